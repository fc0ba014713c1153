import type { JsonObject } from '#shared/core/json.ts';

export interface OfferedTool {
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
  /** Proves to the provider that the thinking was not changed. Valid only in the format in which it came. */
  signature: string;
  /** The name of the format of the request. */
  format: string;
  toolCalls: ToolCall[];
  /** Whether the answer ended at its maximum length. */
  isCut?: boolean;
  served: AnswerFacts;
  /** `stopped`: the person has stopped it. */
  state: 'waiting' | 'streaming' | 'done' | 'stopped' | 'failed';
  error?: string;
}

export type Turn = UserTurn | AssistantTurn;

export interface Settings {
  model: string;
  system: string;
  /** Empty: the model's default. */
  maxTokens: number | '';
  temperature: number | '';
  thinking: boolean;
  tools: OfferedTool[];
}

export function newAnswer(format: string): AssistantTurn {
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

export function withPiece(turn: AssistantTurn, piece: Piece): AssistantTurn {
  switch (piece.kind) {
    case 'text':
      return { ...turn, state: 'streaming', text: turn.text + piece.text };
    case 'thinking':
      return { ...turn, state: 'streaming', thinking: turn.thinking + piece.text };
    case 'signature':
      return { ...turn, signature: turn.signature + piece.text };
    case 'tool':
      return { ...turn, state: 'streaming', toolCalls: withCall(turn.toolCalls, piece) };
    case 'end':
      return { ...turn, isCut: piece.isCut };
    case 'served':
      return { ...turn, served: { ...turn.served, ...piece.served } };
    case 'error':
      return { ...turn, state: 'failed', error: piece.message };
  }
}

function withCall(calls: readonly ToolCall[], piece: Extract<Piece, { kind: 'tool' }>): ToolCall[] {
  const { index, id, name, input = '' } = piece;
  const next = [...calls];
  while (next.length <= index) next.push({ id: '', name: '', input: '' });
  const call = next[index];
  if (call) next[index] = { ...call, id: id ?? call.id, name: name ?? call.name, input: call.input + input };
  return next;
}

/**
 * Returns the tool calls that need a result before the conversation can continue. An answer that was stopped or has failed
 * has none.
 */
export function callsWithoutResult(turns: readonly Turn[]): ToolCall[] {
  const last = turns.at(-1);
  if (last?.role !== 'assistant' || last.state === 'stopped' || last.state === 'failed') return [];
  return last.toolCalls.filter(({ result }) => result === undefined);
}

/** An answer that took fewer milliseconds came as one piece, and does not show the model's speed. */
const minMs = 50;

/** Returns the tokens per second of an answer after its first token; undefined if it is unknown. */
export function tokensPerSecond({ completionTokens, firstTokenMs, totalMs }: AnswerFacts): number | undefined {
  if (completionTokens === undefined || firstTokenMs === undefined || totalMs === undefined) return undefined;
  // The first token has come already at the start of this time.
  const [tokens, ms] = [completionTokens - 1, totalMs - firstTokenMs];
  return tokens > 0 && ms >= minMs ? (tokens / ms) * 1_000 : undefined;
}
