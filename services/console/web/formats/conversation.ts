import { type JsonObject, isJsonObject, type Json } from '#shared/core/json.ts';

export interface ToolDescription {
  name: string;
  description: string;
  inputSchema: JsonObject;
}

export interface ToolCall {
  id: string;
  name: string;
  /** The part of the JSON that has arrived. */
  input: string;
  /** The tool's output; absent until the tool has run. */
  result?: { text: string; isError: boolean };
}

/** The known facts about how an answer was served. */
export interface AnswerFacts {
  model?: string;
  tier?: string;
  worker?: string;
  requestId?: string;
  attempts?: string;
  queueMs?: string;
  firstTokenMs?: number;
  totalMs?: number;
  promptTokens?: number;
  completionTokens?: number;
  /** US dollars, from the ledger. Absent until the ledger shows the request to this person. */
  cost?: number;
}

export interface UserTurn {
  role: 'user';
  text: string;
  /** Data URLs. */
  images: string[];
}

export interface AssistantTurn {
  role: 'assistant';
  text: string;
  thinking: string;
  /** Proves to the provider that the thinking was not changed. Valid only in the format of this answer. */
  signature: string;
  /** The name of the format of the request. */
  format: string;
  toolCalls: ToolCall[];
  /** Whether the answer was cut off at its maximum length. */
  isCut?: boolean;
  served: AnswerFacts;
  /** `stopped`: the person has stopped it. */
  state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed';
  error?: string;
}

export type Turn = UserTurn | AssistantTurn;

export interface ConversationSettings {
  model: string;
  system: string;
  /** Empty: the model's default. */
  maxTokens: number | '';
  temperature: number | '';
  thinking: boolean;
  tools: ToolDescription[];
}

export function createAnswer(format: string): AssistantTurn {
  return {
    role: 'assistant',
    format,
    text: '',
    thinking: '',
    signature: '',
    toolCalls: [],
    served: {},
    state: 'waiting',
  };
}

/** A piece of a streamed answer, independent of the format. */
export type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'thinking'; text: string }
  | { kind: 'signature'; text: string }
  /** A part of the tool call at this index. The first part has its name and id, and later parts have pieces of its input. */
  | { kind: 'tool'; index: number; id?: string | undefined; name?: string | undefined; input?: string | undefined }
  | { kind: 'end'; isCut: boolean }
  | { kind: 'served'; served: Partial<AnswerFacts> }
  | { kind: 'error'; message: string };

export function addPiece(turn: AssistantTurn, piece: Piece): AssistantTurn {
  switch (piece.kind) {
    case 'text':
      return { ...turn, state: 'streaming', text: turn.text + piece.text };
    case 'thinking':
      return { ...turn, state: 'streaming', thinking: turn.thinking + piece.text };
    case 'signature':
      return { ...turn, signature: turn.signature + piece.text };
    case 'tool':
      return { ...turn, state: 'streaming', toolCalls: addCallPart(turn.toolCalls, piece) };
    case 'end':
      return { ...turn, isCut: piece.isCut };
    case 'served':
      return { ...turn, served: { ...turn.served, ...piece.served } };
    case 'error':
      return { ...turn, state: 'failed', error: piece.message };
  }
}

function addCallPart(calls: readonly ToolCall[], piece: Extract<Piece, { kind: 'tool' }>): ToolCall[] {
  const { index, id, name, input = '' } = piece;
  const changedCalls = [...calls];
  while (changedCalls.length <= index) changedCalls.push({ id: '', name: '', input: '' });
  const call = changedCalls[index];
  if (call) changedCalls[index] = { ...call, id: id ?? call.id, name: name ?? call.name, input: call.input + input };
  return changedCalls;
}

/**
 * Returns the tool calls of the last answer that need a result before the conversation can continue. Returns none if the answer was stopped
 * or failed.
 */
export function findCallsWithoutResult(turns: readonly Turn[]): ToolCall[] {
  const last = turns.at(-1);
  if (last?.role !== 'assistant' || last.state === 'stopped' || last.state === 'failed') return [];
  return last.toolCalls.filter(({ result }) => result === undefined);
}

/** The minimum milliseconds from the first token to the end. A faster answer came as one piece and does not show the model's speed. */
const minStreamedMs = 50;

/** Returns the tokens per second of an answer after its first token; undefined if a number is missing or the answer came as one piece. */
export function computeTokensPerSecond({ completionTokens, firstTokenMs, totalMs }: AnswerFacts): number | undefined {
  if (completionTokens === undefined || firstTokenMs === undefined || totalMs === undefined) return undefined;
  // The time starts with the first token, which is therefore not counted.
  const [tokens, ms] = [completionTokens - 1, totalMs - firstTokenMs];
  return tokens > 0 && ms >= minStreamedMs ? (tokens / ms) * 1_000 : undefined;
}

/** Returns the value of an event's field if it is a text, and an empty text otherwise. */
export function readText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the value of an event's field if it is an object, and an empty object otherwise. */
export function readObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
