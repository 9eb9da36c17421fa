import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RealEngineOptions, RealEngineRequest, RecipeResult } from './real-engine-request.js';

/** Writes Codex's state files; codex 0.156.1 and 0.169.0. */
export function codexRecipe(request: RealEngineRequest, options: RealEngineOptions): RecipeResult {
  const codexHome = join(request.homeDir, '.codex');
  mkdirSync(codexHome, { recursive: true });
  writeFileSync(join(codexHome, 'config.toml'), configToml(request, options));
  if (options.updateAvailable !== undefined) {
    const checked = new Date(8.64e15 / 2).toISOString();
    const version = { latest_version: options.updateAvailable, last_checked_at: checked };
    writeFileSync(join(codexHome, 'version.json'), JSON.stringify(version));
  }
  if (options.promptHook !== undefined) {
    const hook = { type: 'command', command: options.promptHook };
    const hooks = { hooks: { UserPromptSubmit: [{ hooks: [hook] }] } };
    writeFileSync(join(codexHome, 'hooks.json'), JSON.stringify(hooks));
  }
  const args = options.daemon === true ? [] : ['--no-daemon'];
  if (options.hooksTrusted === true) args.push('--dangerously-bypass-hook-trust');
  // Only an installation that can update itself offers to.
  const managed = options.updateAvailable === undefined ? {} : { CODEX_MANAGED_BY_NPM: '1' };
  return { args, env: { SCRIPTED_MODEL_KEY: 'scripted', ...managed } };
}

function configToml(request: RealEngineRequest, options: RealEngineOptions): string {
  const free = options.permissions === 'free';
  const lines = [
    `model = ${quoted(options.model ?? 'gpt-5.1-codex')}`,
    ...(options.onboarded === false ? [] : ['model_provider = "scripted"']),
    `approval_policy = "${free ? 'never' : 'on-request'}"`,
    `sandbox_mode = "${free ? 'danger-full-access' : 'workspace-write'}"`,
    `check_for_update_on_startup = ${options.updateAvailable !== undefined}`,
    'suppress_unstable_features_warning = true',
    // Instructions of folders above the work folder are nobody's input here.
    'project_doc_max_bytes = 0',
    '',
    '[analytics]',
    'enabled = false',
    '',
    '[features]',
    'default_mode_request_user_input = true',
    'enable_request_compression = false',
    '',
    '[model_providers.scripted]',
    'name = "scripted"',
    `base_url = ${quoted(`${request.modelUrl}/v1`)}`,
    'wire_api = "responses"',
    'env_key = "SCRIPTED_MODEL_KEY"',
    'supports_websockets = false',
    '',
  ];
  if (options.trusted !== false) {
    lines.push(`[projects.${quoted(request.workDir)}]`, 'trust_level = "trusted"', '');
  }
  return lines.join('\n');
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
