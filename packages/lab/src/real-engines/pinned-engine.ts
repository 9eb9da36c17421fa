import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { CodedError } from '@ostler/runtime';

export type RealEngineName = 'claude' | 'codex';

export interface PinnedEngine {
  readonly engine: RealEngineName;
  readonly version: string;
}

const platformTriples: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
};

/**
 * The native executable of an installed pin, without the launcher script around it.
 * Throws CodedError ENGINE_NOT_INSTALLED, ENGINE_PLATFORM_UNSUPPORTED.
 */
export function nativeExecutable(enginesDir: string, pin: PinnedEngine): string {
  const modules = join(enginesDir, `${pin.engine}-${pin.version}`, 'node_modules');
  const file = join(modules, ...executablePath(pin.engine));
  try {
    accessSync(file, constants.X_OK);
  } catch (cause) {
    throw new CodedError(
      'ENGINE_NOT_INSTALLED',
      `${pin.engine} ${pin.version} is not installed. Run: npm run engines -- --only ${pin.engine}-${pin.version}`,
      { cause, details: { file } },
    );
  }
  return file;
}

function executablePath(engine: RealEngineName): readonly string[] {
  const platform = `${process.platform}-${process.arch}`;
  if (engine === 'claude') return ['@anthropic-ai', `claude-code-${platform}`, 'claude'];
  const triple = platformTriples[platform];
  if (triple === undefined) {
    throw new CodedError(
      'ENGINE_PLATFORM_UNSUPPORTED',
      `codex has no build for ${platform}; use Linux or macOS on x64 or arm64.`,
    );
  }
  return ['@openai', `codex-${platform}`, 'vendor', triple, 'bin', 'codex'];
}
