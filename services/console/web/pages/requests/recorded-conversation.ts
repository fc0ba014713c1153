/** A part of a recorded conversation: who says it, and what. */
export interface RecordedPart {
  /** As the format names it: `system`, `user`, `assistant`, `tool`. */
  role: string;
  text: string;
}

type Json = Readonly<Record<string, unknown>>;

/**
 * What was said in a recorded request, in the order of the conversation, in any of the formats; undefined where it is none of these, or the
 * body was cut. What is no text, such as a call of a tool, is shown as JSON.
 */
export function requestParts(body: string): RecordedPart[] | undefined {
  const request = objectOf(parsed(body));
  if (!request) return undefined;
  const system = request['system'] ?? request['instructions'];
  const { messages, input, prompt } = request;
  const said = messages ?? input ?? prompt;
  const parts = typeof said === 'string' ? [{ role: 'user', text: said }] : Array.isArray(said) ? said.map(partOf) : [];
  const first = system === undefined || system === null ? [] : [{ role: 'system', text: textOf(system) }];
  return parts.length === 0 ? undefined : [...first, ...parts];
}

/** What was answered, of a whole answer or of a stream of events; undefined as above. */
export function answerParts(answer: string): RecordedPart[] | undefined {
  const whole = objectOf(parsed(answer));
  const parts = whole ? wholeParts(whole) : streamedParts(eventsOf(answer));
  return parts.length === 0 ? undefined : parts;
}

function wholeParts({ choices, content, output, error }: Json): RecordedPart[] {
  if (error !== undefined && error !== null)
    return [{ role: 'error', text: textOf(objectOf(error)?.['message'] ?? error) }];
  if (Array.isArray(choices)) return choices.map((choice) => partOf(objectOf(choice)?.['message'] ?? choice));
  if (Array.isArray(output)) return output.map(partOf);
  return content === undefined ? [] : [{ role: 'assistant', text: textOf(content) }];
}

function streamedParts(events: readonly Json[]): RecordedPart[] {
  let text = '';
  const calls = new Map<string, string>();
  const call = (index: unknown, piece: unknown): void => {
    const name = String(index);
    calls.set(name, (calls.get(name) ?? '') + String(piece));
  };
  for (const event of events) {
    const response = objectOf(event['response']);
    if (Array.isArray(response?.['output']) && response['output'].length > 0) return wholeParts(response);
    const delta = objectOf(event['delta']);
    const [choice] = Array.isArray(event['choices']) ? event['choices'] : [];
    const chat = objectOf(objectOf(choice)?.['delta']);
    for (const piece of [chat?.['content'], delta?.['text'], objectOf(choice)?.['text']])
      if (typeof piece === 'string') text += piece;
    if (event['type'] === 'response.output_text.delta' && typeof event['delta'] === 'string') text += event['delta'];
    if (typeof delta?.['partial_json'] === 'string') call(event['index'], delta['partial_json']);
    const block = objectOf(event['content_block']);
    if (block?.['type'] === 'tool_use') call(event['index'], `${String(block['name'])} `);
    for (const each of Array.isArray(chat?.['tool_calls']) ? chat['tool_calls'] : []) {
      const { index, function: called } = objectOf(each) ?? {};
      const { name = '', arguments: given = '' } = objectOf(called) ?? {};
      call(index, `${String(name)}${name === '' ? '' : ' '}${String(given)}`);
    }
    if (event['error']) return [...spoken(text), ...wholeParts(event)];
  }
  return [...spoken(text), ...[...calls.values()].map((each) => ({ role: 'tool call', text: each }))];
}

function spoken(text: string): RecordedPart[] {
  return text === '' ? [] : [{ role: 'assistant', text }];
}

/** The data of events, of those that are JSON. */
function eventsOf(answer: string): Json[] {
  const data = answer.split('\n').filter((line) => line.startsWith('data:'));
  return data.map((line) => objectOf(parsed(line.slice('data:'.length)))).filter((event) => event !== undefined);
}

/** A message or an item of a conversation. */
function partOf(value: unknown): RecordedPart {
  const item = objectOf(value);
  if (!item) return { role: 'user', text: textOf(value) };
  const { role, type, content, text, tool_calls: calls } = item;
  const name = [role, type].find((each) => typeof each === 'string') ?? 'user';
  const said = content ?? text;
  if (said === undefined || said === null) return { role: name, text: textOf(calls ?? item) };
  return { role: name, text: [textOf(said), ...(calls === undefined ? [] : [textOf(calls)])].join('\n') };
}

/** Text as it is, blocks of text joined, and everything else as JSON. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return JSON.stringify(value, undefined, 2);
  return value
    .map((block: unknown) => {
      const text = typeof block === 'string' ? block : objectOf(block)?.['text'];
      return typeof text === 'string' ? text : JSON.stringify(block, undefined, 2);
    })
    .join('\n');
}

function objectOf(value: unknown): Json | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // It was cut, or is no JSON.
    return undefined;
  }
}
