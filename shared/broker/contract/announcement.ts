import { createHash } from 'node:crypto';
import { z } from 'zod';
import { announcedName, announcedText } from './announced-text.ts';
import { contractVersion, ownContract, type ContractRange } from './contract-range.ts';
import { contentKinds } from './server-content.ts';
import { parseJson } from './ticket.ts';
import { hasMoreValues } from '#shared/core/count-values.ts';
import { hostedKinds, type HostedKind } from '#shared/core/hosted-kind.ts';
import { nestsTooDeeply, type JsonObject } from '#shared/core/json.ts';
import { does, modelOperations, type ModelOperation } from '#shared/core/operation.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';

/** What a model can do beyond text in, text out. `continue`: continues a broken answer exactly where it stopped. */
export const capabilities = ['stream', 'tools', 'vision', 'thinking', 'json', 'continue'] as const;

/** Or which hosted tools its upstream runs itself, for requests of one client format: `web_search@…`. */
export type Capability = (typeof capabilities)[number] | `${HostedKind}@${string}`;

/** The capability of a model whose upstream runs the hosted tools of a kind, for requests of a client format. */
export function hostedCapability(kind: HostedKind, format: string): Capability {
  return `${kind}@${format}`;
}

function isCapability(name: string): name is Capability {
  return capabilities.some((known) => known === name) || hostedKinds.some((kind) => name.startsWith(`${kind}@`));
}

function isModelOperation(name: string): name is ModelOperation {
  return modelOperations.some((known) => known === name);
}

/** Bytes of an announcement at most: about three thousand models, or five hundred tools with large schemas. */
export const maxAnnouncementBytes = 512 * 1024;

/** Fields and elements in an announcement at most: an ingress reads so many in less than 0.1 s. */
const maxValues = { values: 50_000, groups: 50_000 };

/** Tokens that a model takes at most, as far as is believed. */
const maxTokens = 100_000_000;

/** Slots of a worker at most, as `SLOTS` has them. */
const maxSlots = 16_384;

const tokens = z.number().int().positive().max(maxTokens).optional().catch(undefined);

/** Elements that are read later, one by one: one that cannot be costs only itself. */
const unread = z.array(z.unknown());

function readable<Schema extends z.ZodType>(schema: Schema, all: readonly unknown[]): z.output<Schema>[] {
  return all.flatMap((each): z.output<Schema>[] => {
    const { success, data } = schema.safeParse(each);
    return success ? [data] : [];
  });
}

const model = z.object({
  id: announcedName,
  /** What it can be asked for, without what only a later release knows. Absent for a model that only generates. */
  operations: z
    .array(z.string())
    .transform((names) => names.filter(isModelOperation))
    .optional(),
  /** Without those that only a later release knows. */
  capabilities: z.array(z.string()).transform((names) => names.filter(isCapability)),
  /** Tokens of input and output together, where the engine reports it. */
  contextWindow: tokens,
  /** Tokens of output at most, where the engine reports it. */
  maxOutput: tokens,
  /** What it lacks: the place of a list in `lackLists`. Absent for a model that lacks nothing that can be announced. */
  lacks: z.number().int().nonnegative().optional().catch(undefined),
  /**
   * How it can be asked to think, where the provider says so: with an effort (`adaptive`), or with a budget of tokens; empty if not
   * at all.
   */
  thinkingTypes: z
    .array(z.enum(['adaptive', 'enabled']))
    .optional()
    .catch(undefined),
});

/** Shallow enough to be written again, in lists of tools. */
const jsonObject = z.record(z.string(), z.unknown()).refine((value) => !nestsTooDeeply(value as JsonObject));

const tool = z.object({
  name: announcedName,
  /** The name that its server gives it, where that is not valid in all formats. It can be called by both. */
  givenName: announcedName.optional().catch(undefined),
  /** For people. */
  title: announcedText(200).optional().catch(undefined),
  description: z.string(),
  inputSchema: jsonObject,
  /** JSON Schema of `structuredContent`, of type object. */
  outputSchema: jsonObject.optional().catch(undefined),
  /** What its MCP server says of its effects (Model Context Protocol, "Tool annotations"): hints, no promises. */
  annotations: jsonObject.optional().catch(undefined),
  /** The MCP server that it belongs to, as the operator names it; absent for the worker's own tools. */
  server: announcedName.optional().catch(undefined),
  /** Absent for a tool. Otherwise this is the content of the server, see `contentName`, and these are the kinds that it has. */
  passes: z
    .array(z.string())
    .transform((kinds) => contentKinds.filter((kind) => kinds.includes(kind)))
    .optional(),
});

/**
 * What a worker publishes at `subjects.heartbeat` on change and on request, and each second unless it sends beats instead (see
 * `heartbeats.ts`); every ingress subscribes. Times are milliseconds since 1970.
 */
const announcementSchema = z.object({
  /** The newest version of the contract that it speaks, and the oldest where that is another one. */
  v: contractVersion,
  oldest: contractVersion.optional(),
  /** As in its address. */
  worker: z.string().regex(/^[\w-]{1,64}$/),
  tier: z.enum(tiers),
  /** See `poolOf`. */
  pool: z.string().regex(/^[\w-]{1,64}$/),
  models: unread,
  /**
   * Models that do not generate, when it is on its way: releases that know no operations would have them generate. Once it is read
   * they stand among the others.
   */
  otherModels: unread.optional().catch(undefined),
  /** The lists that `lacks` of its models names: most models of a worker lack the same. */
  lackLists: z.array(z.array(z.string())).optional().catch(undefined),
  tools: unread.default([]),
  /**
   * The content of MCP servers, when it is on its way: releases that know none would list it as tools. Once it is read it stands among
   * the tools.
   */
  contents: unread.optional().catch(undefined),
  /** The client formats that it answers in. A job of any other is never given to it. */
  formats: z.array(announcedName),
  /** Jobs that it serves at once. */
  slots: z
    .number()
    .int()
    .nonnegative()
    .transform((slots) => Math.min(slots, maxSlots)),
  /** Slots in use. */
  busy: z.number().int().nonnegative(),
  /** False while the worker drains, its engine does not answer, or it slows itself down. */
  accepting: z.boolean(),
  /** True while it takes nothing new because an operator has drained it, or it is being stopped. */
  draining: z.boolean().optional(),
  /**
   * Why it does not accept, or takes one job at a time: `failing: <code>`, `limited: <code>`, `limited`, `unreachable`,
   * `unhealthy` or `no_models`; `tools failing: <names>` where only these take no calls. Later releases may name others.
   */
  reason: announcedText(100).optional().catch(undefined),
  /** When it takes jobs again, where it knows; absent while it accepts. */
  resumesAt: z.number().optional().catch(undefined),
  /** Subject in its inbox for offers of jobs of its pool. Absent from a worker that takes none. */
  offersAt: z
    .string()
    .regex(/^[\w.-]{1,255}$/)
    .optional()
    .catch(undefined),
  /**
   * Whether it confirms each offer that it takes, with a keep-alive, before it begins the job: one that died without a frame has not
   * had the job. Absent from older releases.
   */
  confirms: z.boolean().optional().catch(undefined),
  /** The machine's name, for people to find it by. */
  host: announcedText(255).optional(),
  /** Of its release, for people. */
  version: announcedText(100),
  startedAt: z.number(),
  /** What identifies all of it but `busy`, see `digestOf`: later heartbeats name it. Absent from older releases. */
  digest: z
    .string()
    .regex(/^[\w-]{1,24}$/)
    .optional()
    .catch(undefined),
});

/** Whether a worker's reason is that its upstream fails, rather than limits it. */
export function isFailing(reason: string | undefined): boolean {
  return reason !== undefined && (reason === 'unreachable' || reason === 'unhealthy' || reason.startsWith('failing: '));
}

/** Whether a worker's reason is that its upstream limits its rate: it resumes by itself. */
export function isLimited(reason: string | undefined): boolean {
  return reason !== undefined && (reason === 'limited' || reason.startsWith('limited: '));
}

/** Whether a worker takes one job at a time, a probe, to find out whether its upstream still fails. */
export function isProbing({ accepting, reason }: Pick<Announcement, 'accepting' | 'reason'>): boolean {
  return accepting && isFailing(reason);
}

/** The last heartbeat of a worker that leaves. Not an empty one: the broker sends empty messages itself, to any reply subject. */
export const goodbye = 'gone';

export type ModelInfo = Omit<z.infer<typeof model>, 'lacks'> & {
  /** Parts of requests that it does not take, see `featureKey`; absent for none. */
  lacks?: readonly string[] | undefined;
};
export type Announcement = Omit<
  z.infer<typeof announcementSchema>,
  'models' | 'otherModels' | 'lackLists' | 'tools' | 'contents'
> & {
  models: ModelInfo[];
  tools: ToolInfo[];
  /** How many of the models and tools that came were left out, because they cannot be read or have no valid name. */
  leftOut?: number | undefined;
};
export type ToolInfo = z.infer<typeof tool>;

/** Whether a tool is called so. */
export function isCalled({ name, givenName }: Pick<ToolInfo, 'name' | 'givenName'>, called: string): boolean {
  return name === called || givenName === called;
}

/** The payload of a heartbeat. */
export function encodeAnnouncement({ models, tools: all, ...rest }: Announcement): string {
  const places = new Map<string, number>();
  const lackLists: (readonly string[])[] = [];
  const placeOf = (list: readonly string[]): number => {
    const key = list.join();
    const place = places.get(key) ?? lackLists.push(list) - 1;
    places.set(key, place);
    return place;
  };
  const written = models.map(({ lacks = [], ...each }) =>
    lacks.length > 0 ? { ...each, lacks: placeOf(lacks) } : each,
  );
  const { own = [], other } = Object.groupBy(written, (each) => (does(each, 'generate') ? 'own' : 'other'));
  const { tools = [], contents } = Object.groupBy(all, ({ passes }) => (passes ? 'contents' : 'tools'));
  const lists = { tools, ...(contents && { contents }), ...(lackLists.length > 0 && { lackLists }) };
  return JSON.stringify({ ...rest, models: own, otherModels: other, ...lists });
}

/**
 * Reads an announcement, without the models and tools that cannot be read; undefined if the rest cannot be, or it is too large. What it
 * says is a claim: it is checked here, once, for all that use it.
 */
export function decodeAnnouncement(payload: Uint8Array): Announcement | undefined {
  if (payload.length > maxAnnouncementBytes) return undefined;
  if (hasMoreValues(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength), maxValues)) return undefined;
  const read = parseJson(payload, announcementSchema);
  if (!read) return undefined;
  const { otherModels = [], models, lackLists = [], tools, contents = [], ...rest } = read;
  const readModels = readable(model, [...models, ...otherModels]).map(({ lacks, ...each }): ModelInfo => {
    const list = lacks === undefined ? undefined : lackLists[lacks];
    return list ? { ...each, lacks: list } : each;
  });
  const readTools = readable(tool, [...tools, ...contents]);
  const given = models.length + otherModels.length + tools.length + contents.length;
  const leftOut = given - readModels.length - readTools.length || undefined;
  return { ...rest, models: readModels, tools: readTools, leftOut };
}

/** What workers of one pool have in common. */
export interface PoolFacts {
  tier: Tier;
  /** The kind of thing behind the worker, as `vllm`. */
  kind: string;
  /** Client formats that it answers in. */
  formats: readonly string[];
  models: readonly ModelInfo[];
  tools?: readonly ToolInfo[] | undefined;
  /** Default: the versions of this release. */
  contract?: ContractRange;
}

/**
 * The token of the pool that a worker belongs to, derived from what makes workers interchangeable: one tier and kind, the same
 * formats, models and tools, and the same versions of the contract.
 */
export function poolOf(facts: PoolFacts): string {
  return `${facts.kind.replaceAll(/[^\w-]/g, '-')}-${digestOfPool(facts).slice(0, 12)}`;
}

/** Identifies what workers of one pool have in common: 64 hexadecimal digits. */
export function digestOfPool({ tier, kind, formats, models, tools = [], contract = ownContract }: PoolFacts): string {
  const { oldest, newest } = contract;
  const facts = [
    ...models.map(({ id, capabilities, contextWindow, maxOutput, operations, lacks = [] }) =>
      JSON.stringify([
        id,
        [...capabilities].sort(),
        contextWindow,
        maxOutput,
        ...(operations ? [operations] : []),
        ...(lacks.length > 0 ? [{ lacks: [...lacks].sort() }] : []),
      ]),
    ),
    ...tools.map(({ name, description, inputSchema, server, givenName, title, ...others }) => {
      const { outputSchema, annotations, passes } = others;
      const further = JSON.stringify({ givenName, title, outputSchema, annotations, passes });
      const parts = [name, description, inputSchema, ...(server === undefined ? [] : [server])];
      return JSON.stringify(further === '{}' ? parts : [...parts, further]);
    }),
  ];
  return createHash('sha256')
    .update([tier, kind, `${oldest}-${newest}`, [...formats].sort().join(), ...facts.sort()].join('\n'))
    .digest('hex');
}
