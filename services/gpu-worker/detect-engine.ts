import { z } from 'zod';
import { type EngineKind, modelList } from './engines/engine.ts';
import type { UpstreamAnswer } from '#shared/upstream/upstream-http.ts';
import type { EngineHttp } from './engine-http.ts';

/** An endpoint whose answer identifies one kind of engine. */
interface EngineSign {
  kind: EngineKind;
  path: string;
  matches: (answer: UpstreamAnswer) => boolean;
}

/** The signs of all kinds of engines, most specific first. All endpoints are queried at once. The first matching sign decides. */
const signs: EngineSign[] = [
  { kind: 'llama-cpp', path: '/v1/models', matches: ({ headers }) => headers.server === 'llama.cpp' },
  { kind: 'llama-cpp', path: '/props', matches: hasShape(z.looseObject({ total_slots: z.number() })) },
  { kind: 'ollama', path: '/api/version', matches: hasShape(z.looseObject({ version: z.string() })) },
  { kind: 'lm-studio', path: '/api/v1/models', matches: hasShape(z.looseObject({ models: z.array(z.unknown()) })) },
  {
    kind: 'lm-studio',
    path: '/api/v0/models',
    matches: hasShape(z.looseObject({ data: z.array(z.looseObject({ state: z.string() })) })),
  },
  { kind: 'sglang', path: '/model_info', matches: hasShape(z.looseObject({ model_path: z.string() })) },
  { kind: 'sglang', path: '/get_model_info', matches: hasShape(z.looseObject({ model_path: z.string() })) },
  { kind: 'vllm', path: '/v1/models', matches: isOwnedBy('vllm', 'rtr-demo') },
  { kind: 'vllm', path: '/version', matches: hasShape(z.looseObject({ version: z.string() })) },
  { kind: 'openai', path: '/v1/models', matches: hasShape(modelList) },
];

/** Timeout of one query, in milliseconds. */
const probeTimeoutMs = 2000;

/** Detects the kind of the engine. Returns undefined if nothing answers, or if the answers come from no engine with the chat format. */
export async function detectEngine(http: EngineHttp): Promise<EngineKind | undefined> {
  const paths = [...new Set(signs.map((sign) => sign.path))];
  const answers = new Map(
    await Promise.all(
      paths.map(async (path) => [path, await http.get(path, probeTimeoutMs).catch(() => undefined)] as const),
    ),
  );
  return signs.find(({ path, matches }) => {
    const answer = answers.get(path);
    return answer !== undefined && matches(answer);
  })?.kind;
}

function hasShape(shape: z.ZodType): EngineSign['matches'] {
  return ({ status, body }) => status === 200 && shape.safeParse(body).success;
}

function isOwnedBy(...owners: string[]): EngineSign['matches'] {
  return ({ status, body }) => {
    const list = status === 200 ? modelList.safeParse(body).data : undefined;
    return list?.data.some((model) => owners.includes(model.owned_by ?? '')) ?? false;
  };
}
