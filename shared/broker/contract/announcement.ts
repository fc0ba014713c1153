import { z } from 'zod';
import { announcedName, announcedText } from './announced-text.ts';
import { toolSchema } from './announced-tool.ts';
import { contractVersion } from './contract-range.ts';
import { parseJson } from './ticket.ts';
import { hasMoreValues } from '#shared/core/has-more-values.ts';
import { hostedKinds, type HostedKind } from '#shared/core/hosted-kind.ts';
import { modelOperations, type ModelOperation } from '#shared/core/operation.ts';
import { tiers } from '#shared/core/tier.ts';

/**
 * Abilities of a model beyond text in, text out. `continue`: the worker continues an interrupted answer exactly where the answer stopped.
 */
export const capabilities = ['stream', 'tools', 'vision', 'thinking', 'json', 'continue'] as const;

/**
 * A capability, or a kind of hosted tool that the model's upstream runs itself for requests of one client format:
 * `web_search@<client format>`.
 */
export type Capability = (typeof capabilities)[number] | `${HostedKind}@${string}`;

export function formatHostedCapability(kind: HostedKind, format: string): Capability {
  return `${kind}@${format}`;
}

function isCapability(name: string): name is Capability {
  return capabilities.some((known) => known === name) || hostedKinds.some((kind) => name.startsWith(`${kind}@`));
}

function isModelOperation(name: string): name is ModelOperation {
  return modelOperations.some((known) => known === name);
}

/** Maximum bytes of an announcement: enough for about three thousand models, or five hundred tools with large schemas. */
export const maxAnnouncementBytes = 512 * 1024;

/** Maximum fields and elements of an announcement. A dispatcher parses this many in less than 0.1 s. */
const maxValues = { values: 50_000, groups: 50_000 };

/** Maximum tokens of a model's context or output; a larger value is ignored. */
const maxTokens = 100_000_000;

/** Maximum slots of a worker; the setting `SLOTS` has the same maximum. */
const maxSlots = 16_384;

const tokenCount = z.number().int().positive().max(maxTokens).optional().catch(undefined);

/** A list whose elements are parsed later, one by one, so that one invalid element does not make the others invalid. */
const unparsedList = z.array(z.unknown());

/** Parses the elements of a list, and drops elements that do not match the schema. */
function parseEach<Schema extends z.ZodType>(schema: Schema, elements: readonly unknown[]): z.output<Schema>[] {
  return elements.flatMap((each): z.output<Schema>[] => {
    const { success, data } = schema.safeParse(each);
    return success ? [data] : [];
  });
}

/** Maximum formats, capabilities or features in a list; all client formats together have about fifty features. */
const maxNames = 100;
/** Maximum characters of an entry in such a list; a longer entry is dropped. */
const maxNameLength = 64;

/** Drops long names, and all names after the first hundred, because every request looks through the list, and many models may share it. */
function boundList<Name extends string>(names: readonly Name[]): Name[] {
  return names.filter(({ length }) => length <= maxNameLength).slice(0, maxNames);
}

const modelSchema = z.object({
  id: announcedName,
  /** The operations of the model. Names that only a later release defines are dropped. Absent for a model that only generates. */
  operations: z
    .array(z.string())
    .transform((names) => [...new Set(names.filter(isModelOperation))])
    .optional(),
  /** The capabilities of the model. Names that only a later release defines are dropped. */
  capabilities: z.array(z.string()).transform((names) => boundList(names.filter(isCapability))),
  /** Tokens of input and output together, if the engine reports them. */
  contextWindow: tokenCount,
  /** Maximum tokens of output, if the engine reports them. */
  maxOutput: tokenCount,
  /** The index in `lackLists` of the list of features that the model does not take. Absent if the model takes all features. */
  lacks: z.number().int().nonnegative().optional().catch(undefined),
  /**
   * The ways to ask the model to think, if the provider reports them: `adaptive` takes an effort, `enabled` a budget of tokens. An empty
   * list means that the model cannot think.
   */
  thinkingTypes: z
    .array(z.enum(['adaptive', 'enabled']))
    .optional()
    .catch(undefined),
});

/** Milliseconds since 1970, within the range of a `Date`. */
const timestamp = z.number().min(0).max(8.64e15);

/**
 * The message that a worker publishes at `subjects.heartbeat` when anything in it changes, and on request. Between two announcements the
 * worker sends short heartbeats, see `heartbeats.ts`. Every dispatcher subscribes. Times are milliseconds since 1970.
 */
const announcementSchema = z.object({
  /** The newest version of the contract that the worker speaks. */
  v: contractVersion,
  /** The oldest version of the contract that the worker speaks; absent if it is also the newest. */
  oldest: contractVersion.optional(),
  worker: z.string().regex(/^[\w-]{1,64}$/),
  tier: z.enum(tiers),
  /** See `derivePoolToken`. */
  pool: z.string().regex(/^[\w-]{1,64}$/),
  models: unparsedList,
  /**
   * The lists of features to which the models' `lacks` refer. Models share a list, because most models of a worker lack the same features.
   */
  lackLists: z.array(z.array(z.string()).transform(boundList)).optional().catch(undefined),
  tools: unparsedList.default([]),
  /** Client formats in which the worker answers; it never gets jobs of other formats. */
  formats: z.array(announcedName).transform(boundList),
  slots: z
    .number()
    .int()
    .nonnegative()
    .transform((slots) => Math.min(slots, maxSlots)),
  busy: z.number().int().nonnegative(),
  /** False while the worker drains, while its engine does not answer, and while its circuit breaker stops new jobs. */
  accepting: z.boolean(),
  /** True while the worker takes no new jobs because an operator has drained it or because it stops. */
  draining: z.boolean().optional(),
  /**
   * The reason why the worker takes no jobs, or one at a time: `failing: <code>`, `limited: <code>`, `limited`, `unreachable`, `unhealthy`
   * or `no_models`. It is `tools failing: <names>` if only these tools take no calls. Later releases may add reasons.
   */
  reason: announcedText(100).optional().catch(undefined),
  /** When the worker takes jobs again, if that is known. Absent while the worker takes jobs. */
  resumesAt: timestamp.optional().catch(undefined),
  /** The subject in the worker's inbox to which offers of its pool's jobs are sent. Absent if the worker takes no offers. */
  offersAt: z
    .string()
    .regex(/^[\w.-]{1,255}$/)
    .optional()
    .catch(undefined),
  /** The host name of the machine, so that people can find it. */
  host: announcedText(255).optional(),
  /** The version of the worker's release, for people. */
  version: announcedText(100),
  startedAt: timestamp,
  /** The digest of everything but `busy`, see `computeDigest`. Short heartbeats repeat the digest. Absent before `Heartbeat` adds it. */
  digest: z
    .string()
    .regex(/^[\w-]{1,24}$/)
    .optional()
    .catch(undefined),
});

/** Whether a worker takes no jobs, or one at a time, because its upstream fails. A rate limit is not a failure. */
export function isFailing(reason: string | undefined): boolean {
  return reason !== undefined && (reason === 'unreachable' || reason === 'unhealthy' || reason.startsWith('failing: '));
}

/** Whether a worker takes no jobs because of a rate limit of its upstream. The limit ends by itself. */
export function isLimited(reason: string | undefined): boolean {
  return reason !== undefined && (reason === 'limited' || reason.startsWith('limited: '));
}

/** Whether a worker takes one job at a time as a probe, to find out whether its upstream still fails. */
export function isProbing({ accepting, reason }: Pick<Announcement, 'accepting' | 'reason'>): boolean {
  return accepting && isFailing(reason);
}

/**
 * The payload of the last heartbeat of a worker that leaves. It is not empty, because the broker itself sends empty messages to any reply
 * subject.
 */
export const goodbye = 'gone';

export type ModelInfo = Omit<z.infer<typeof modelSchema>, 'lacks'> & {
  /** Features of requests that the model does not take, see `createFeatureKey`. Absent if the model takes all features. */
  lacks?: readonly string[] | undefined;
};
export type Announcement = Omit<z.infer<typeof announcementSchema>, 'models' | 'lackLists' | 'tools'> & {
  models: readonly ModelInfo[];
  tools: readonly ToolInfo[];
  /** The number of announced models and tools that were dropped, because they cannot be parsed or have no valid name. */
  leftOut?: number | undefined;
};
export type ToolInfo = z.infer<typeof toolSchema>;

export function hasToolName({ name, givenName }: Pick<ToolInfo, 'name' | 'givenName'>, calledName: string): boolean {
  return name === calledName || givenName === calledName;
}

export function encodeAnnouncement({ models, ...rest }: Announcement): string {
  const indexes = new Map<string, number>();
  const lackLists: (readonly string[])[] = [];
  const getIndex = (list: readonly string[]): number => {
    const key = list.join();
    const index = indexes.get(key) ?? lackLists.push(list) - 1;
    indexes.set(key, index);
    return index;
  };
  const encodedModels = models.map(({ lacks = [], ...each }) =>
    lacks.length > 0 ? { ...each, lacks: getIndex(lacks) } : each,
  );
  return JSON.stringify({ ...rest, models: encodedModels, ...(lackLists.length > 0 && { lackLists }) });
}

/**
 * Parses an announcement and drops the models and tools that cannot be parsed. This is the only place where the content of an announcement
 * is validated.
 * @returns undefined if the announcement is too large, or a field besides models and tools cannot be parsed
 */
export function decodeAnnouncement(payload: Uint8Array): Announcement | undefined {
  if (payload.length > maxAnnouncementBytes) return undefined;
  if (hasMoreValues(Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength), maxValues)) return undefined;
  const parsed = parseJson(payload, announcementSchema);
  if (!parsed) return undefined;
  const { models, lackLists = [], tools, ...rest } = parsed;
  const parsedModels = parseEach(modelSchema, models).map(({ lacks, ...each }): ModelInfo => {
    const list = lacks === undefined ? undefined : lackLists[lacks];
    return list ? { ...each, lacks: list } : each;
  });
  const parsedTools = parseEach(toolSchema, tools);
  const leftOut = models.length + tools.length - parsedModels.length - parsedTools.length || undefined;
  return { ...rest, models: parsedModels, tools: parsedTools, leftOut };
}
