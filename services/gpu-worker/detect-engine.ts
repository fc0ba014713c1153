import { z } from 'zod';
import type { EngineKind } from './engines/engine.ts';
import { modelList } from './engines/model-list.ts';
import type { UpstreamAnswer } from '#shared/upstream/upstream-http.ts';
import type { EngineHttp } from './engine-http.ts';

/** A page that one kind of engine has, and how its answer looks there. */
interface Sign {
  kind: EngineKind;
  path: string;
  shows: (answer: UpstreamAnswer) => boolean;
}

/** Most telling first. All pages are asked at the same time; the first sign that shows decides. */
const signs: Sign[] = [
  { kind: 'llama-cpp', path: '/v1/models', shows: ({ headers }) => headers.server === 'llama.cpp' },
  { kind: 'llama-cpp', path: '/props', shows: withShape(z.looseObject({ total_slots: z.number() })) },
  { kind: 'ollama', path: '/api/version', shows: withShape(z.looseObject({ version: z.string() })) },
  { kind: 'lm-studio', path: '/api/v1/models', shows: withShape(z.looseObject({ models: z.array(z.unknown()) })) },
  {
    kind: 'lm-studio',
    path: '/api/v0/models',
    shows: withShape(z.looseObject({ data: z.array(z.looseObject({ state: z.string() })) })),
  },
  { kind: 'sglang', path: '/model_info', shows: withShape(z.looseObject({ model_path: z.string() })) },
  { kind: 'sglang', path: '/get_model_info', shows: withShape(z.looseObject({ model_path: z.string() })) },
  { kind: 'vllm', path: '/v1/models', shows: ownedBy('vllm', 'rtr-demo') },
  { kind: 'vllm', path: '/version', shows: withShape(z.looseObject({ version: z.string() })) },
  { kind: 'openai', path: '/v1/models', shows: withShape(modelList) },
];

const probeTimeoutMs = 2000;

/** Finds out what kind of engine answers. Undefined when none does, or it is nothing that speaks the chat format. */
export async function detectEngine(http: EngineHttp): Promise<EngineKind | undefined> {
  const paths = [...new Set(signs.map((sign) => sign.path))];
  const answers = new Map(
    await Promise.all(
      paths.map(async (path) => [path, await http.get(path, probeTimeoutMs).catch(() => undefined)] as const),
    ),
  );
  return signs.find(({ path, shows }) => {
    const answer = answers.get(path);
    return answer !== undefined && shows(answer);
  })?.kind;
}

function withShape(shape: z.ZodType): Sign['shows'] {
  return ({ status, body }) => status === 200 && shape.safeParse(body).success;
}

function ownedBy(...owners: string[]): Sign['shows'] {
  return ({ status, body }) => {
    const list = status === 200 ? modelList.safeParse(body).data : undefined;
    return list?.data.some((model) => owners.includes(model.owned_by ?? '')) ?? false;
  };
}
