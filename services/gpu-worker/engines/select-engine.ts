import type { Engine, EngineKind } from './engine.ts';
import { llamaCpp } from './llama-cpp.ts';
import { lmStudio } from './lm-studio.ts';
import { ollama } from './ollama.ts';
import { openai } from './openai.ts';
import { sglang } from './sglang.ts';
import { vllm } from './vllm.ts';

const engines: Record<EngineKind, Engine> = {
  vllm,
  sglang,
  'llama-cpp': llamaCpp,
  ollama,
  'lm-studio': lmStudio,
  openai,
};

/** Returns the engine of a kind. To add a kind, add its name to `engineKinds`, add a file for it, and add a line here. */
export function selectEngine(kind: EngineKind): Engine {
  return engines[kind];
}
