import type { RequestPlan } from './request-plan.ts';

export interface Answer {
  /** HTTP status; undefined when no header arrived. */
  status: number | undefined;
  text: string;
  /** Whether the mark that ends an answer of its format arrived. */
  finished: boolean;
  error: string | undefined;
  /** Whether the error blames the request for killing workers. */
  isBlamed: boolean;
  /** How the connection broke, if it did. */
  broken: string | undefined;
  /** Output tokens in the answer. */
  outputTokens: number | undefined;
  /** Whether anything but a comment follows the end. */
  trailing: boolean;
}

interface Fields {
  type?: string;
  is_error?: boolean;
  error?: { type?: string; code?: string | null; message?: string };
  choices?: { delta?: { content?: string | null }; message?: { content?: string | null }; finish_reason?: unknown }[];
  usage?: { completion_tokens?: number; output_tokens?: number } | null;
  delta?: { type?: string; text?: string };
  content?: { type: string; text?: string }[];
}

/** Reads the bytes of an answer, as far as they arrived. */
export function readAnswer(
  plan: Pick<RequestPlan, 'format' | 'stream'>,
  { status, body, broken }: { status: number | undefined; body: string; broken: string | undefined },
): Answer {
  const nothing = { text: '', finished: false, isBlamed: false, trailing: false };
  const answer: Answer = { status, ...nothing, error: undefined, broken, outputTokens: undefined };
  if (status === undefined) return answer;
  if (!plan.stream || status !== 200) readWhole(plan, body, answer);
  else readStream(plan, body, answer);
  return answer;
}

function readWhole({ format }: Pick<RequestPlan, 'format'>, body: string, answer: Answer): void {
  const fields = parse(body);
  if (!fields) return;
  take(fields, answer);
  if (answer.status !== 200) return;
  const { choices, content = [] } = fields;
  const ofMessages = content.map(({ text }) => text ?? '').join('');
  answer.text = format === 'chat' ? (choices?.[0]?.message?.content ?? '') : ofMessages;
  if (fields.is_error) answer.error = answer.text;
  answer.finished = answer.error === undefined;
}

/** Reads server-sent events, complete ones only. */
function readStream({ format }: Pick<RequestPlan, 'format'>, body: string, answer: Answer): void {
  for (const event of body.split(/\r?\n\r?\n/).slice(0, -1)) {
    const data = event
      .split(/\r?\n/)
      .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []))
      .join('\n');
    if (data === '') continue;
    if (answer.finished) answer.trailing = true;
    if (data === '[DONE]') {
      // After an error it ends the stream, not the answer.
      answer.finished = answer.error === undefined;
      continue;
    }
    const fields = parse(data);
    if (!fields) {
      answer.error ??= `no JSON: ${data.slice(0, 40)}`;
      continue;
    }
    take(fields, answer);
    answer.text += (format === 'chat' ? fields.choices?.[0]?.delta?.content : fields.delta?.text) ?? '';
    if (fields.type === 'message_stop') answer.finished = true;
  }
}

function take({ error, usage }: Fields, answer: Answer): void {
  if (error) {
    answer.error = error.code ?? error.type ?? error.message ?? 'error';
    // Only the chat format has a code.
    answer.isBlamed = error.code === 'workers_died' || error.message?.startsWith('Two workers died') === true;
  }
  answer.outputTokens = usage?.completion_tokens ?? usage?.output_tokens ?? answer.outputTokens;
}

function parse(text: string): Fields | undefined {
  try {
    return JSON.parse(text) as Fields;
  } catch {
    return undefined;
  }
}
