import type { Engine } from '@ostler/engines';
import { claudeEngine } from '@ostler/engines/claude';
import { codexEngine } from '@ostler/engines/codex';
import { genericEngines } from '@ostler/engines/generic';

/** The engines every instance knows. */
export const builtInEngines: readonly Engine[] = [claudeEngine, codexEngine, ...genericEngines];
