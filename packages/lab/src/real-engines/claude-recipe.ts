import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RealEngineOptions, RealEngineRequest, RecipeResult } from './real-engine-request.js';

const fakeKey = 'sk-ant-scripted-key-0000000000000000000000000000000000000000';

/** Writes Claude Code's state files; claude 2.1.280 and 2.1.328. */
export function claudeRecipe(request: RealEngineRequest, options: RealEngineOptions): RecipeResult {
  const { homeDir, workDir, version } = request;
  const onboarding =
    options.onboarded === false
      ? {}
      : { hasCompletedOnboarding: true, lastOnboardingVersion: version, theme: 'dark' };
  const approved = options.keyApproved === false ? [] : [fakeKey.slice(-20)];
  const state = {
    ...onboarding,
    numStartups: 5,
    hasResetAutoModeOptInForDefaultOffer: true,
    hasSeenAutoDefaultNudge: options.autoModeDeclined !== false,
    bypassPermissionsModeAccepted: options.freeAccepted !== false,
    customApiKeyResponses: { approved, rejected: [] },
    projects: {
      [workDir]: {
        hasTrustDialogAccepted: options.trusted !== false,
        hasCompletedProjectOnboarding: true,
        projectOnboardingSeenCount: 5,
      },
    },
  };
  writeFileSync(join(homeDir, '.claude.json'), JSON.stringify(state));
  mkdirSync(join(homeDir, '.claude'), { recursive: true });
  writeFileSync(join(homeDir, '.claude', 'settings.json'), JSON.stringify(settings(options)));
  return {
    args: permissionArgs(options),
    env: {
      IS_SANDBOX: '1',
      ANTHROPIC_BASE_URL: request.modelUrl,
      ANTHROPIC_API_KEY: fakeKey,
      ...(options.model === undefined ? {} : { ANTHROPIC_MODEL: options.model }),
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
      DISABLE_ERROR_REPORTING: '1',
    },
  };
}

function settings(options: RealEngineOptions): Record<string, unknown> {
  const hook = { type: 'command', command: options.promptHook };
  return {
    skipDangerousModePermissionPrompt: options.freeAccepted !== false,
    permissions: { allow: ['Bash(sleep:*)', 'Bash(echo:*)'], defaultMode: 'default' },
    ...(options.promptHook === undefined
      ? {}
      : { hooks: { UserPromptSubmit: [{ hooks: [hook] }] } }),
  };
}

function permissionArgs(options: RealEngineOptions): readonly string[] {
  if (options.permissions === 'free') return ['--dangerously-skip-permissions'];
  if (options.permissions === 'plan') return ['--permission-mode', 'plan'];
  return [];
}
