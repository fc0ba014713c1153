import { modelOf, scenarios, type BenchFormat, type ScenarioName } from '../upstream/scenarios.ts';

/** Content of a request: everyday text, an image of 1 MiB, or a conversation of 200 turns with 30 tools. */
export type Content = 'everyday' | 'image' | 'conversation';

const imageBytes = 1024 * 1024;
const turns = 200;
const tools = 30;
const maxTokens = 256;

const system = `You are the assistant of a small shop for musical instruments. Answer in the customer's language, in two or
three sentences, and name prices with tax. When you are not sure that an article is in stock, say so and offer to ask.`;

/** The turns of an everyday chat request, of about 900 bytes. */
export const everydayMessages = [
  { role: 'system', content: system },
  { role: 'user', content: 'Hello! I play the violin and look for a bow for about 300 euros.' },
  { role: 'assistant', content: 'Gladly! We have two carbon bows at 279 € and 315 €. Do you play orchestra or solo?' },
  { role: 'user', content: 'Mostly orchestra. Could I try both, and would you take my old bow in part exchange?' },
] as const;

/** Returns an everyday chat request that a chat upstream answers with this scenario. */
export function everydayRequest(scenario: ScenarioName): string {
  return requestBody('chat', 'everyday', modelOf(scenario, 'chat'), scenarios[scenario].texts > 0);
}

/**
 * Returns bodies of everyday requests, each of which begins another conversation: a router may keep requests of one conversation with one
 * upstream.
 */
export function manyBodies(scenario: ScenarioName): string[] {
  const body = everydayRequest(scenario);
  return Array.from({ length: 64 }, (_, shop) => body.replace('a small shop', `small shop ${shop}`));
}

/** Returns the body of a request, as a client of this format sends it. Images and conversations exist in the chat format only. */
export function requestBody(client: BenchFormat, content: Content, model: string, stream: boolean): string {
  switch (client) {
    case 'chat':
      return JSON.stringify({ model, ...chatContent(content), temperature: 0.7, max_tokens: maxTokens, stream });
    case 'messages': {
      if (content !== 'everyday') throw new Error(`no request of the messages format carries ${content}`);
      const [{ content: system }, ...messages] = everydayMessages;
      return JSON.stringify({ model, system, messages, temperature: 0.7, max_tokens: maxTokens, stream });
    }
  }
}

function chatContent(content: Content): object {
  switch (content) {
    case 'everyday':
      return { messages: everydayMessages };
    case 'image':
      return { messages: imageMessages() };
    case 'conversation':
      return { messages: longConversation(), tools: manyTools() };
  }
}

function imageMessages(): object[] {
  const url = `data:image/png;base64,${pngLike(imageBytes).toString('base64')}`;
  const parts = [
    { type: 'text', text: 'What is on this picture?' },
    { type: 'image_url', image_url: { url } },
  ];
  return [{ role: 'user', content: parts }];
}

/** Returns bytes that begin as a PNG and then cannot be compressed, the same on every run. */
function pngLike(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = 0x9e3779b9;
  for (let at = 0; at < length; at += 4) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes.writeInt32LE(state | 0, at);
  }
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes);
  return bytes;
}

/** Returns a conversation of user and assistant in turn; one answer in ten calls a tool first. */
function longConversation(): object[] {
  const text = (turn: number): string =>
    `Turn ${turn}: the bow of carbon fibre weighs 61 g and balances at 255 mm; "which rosin fits?" and the price with tax is 279 €. `.repeat(
      2,
    );
  return Array.from({ length: turns / 2 }, (_, pair) => {
    const question = { role: 'user', content: text(pair * 2) };
    const answer = { role: 'assistant', content: text(pair * 2 + 1) };
    if (pair % 10 !== 9) return [question, answer];
    const id = `call_${pair}`;
    const call = { id, type: 'function', function: { name: 'tool_1', arguments: `{"article":"bow-${pair}"}` } };
    return [
      question,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: id, content: `{"stock":${pair},"note":"in the window"}` },
      answer,
    ];
  })
    .flat()
    .concat({ role: 'user', content: 'Thank you. Which of them do you recommend for an orchestra?' });
}

function manyTools(): object[] {
  return Array.from({ length: tools }, (_, at) => ({
    type: 'function',
    function: {
      name: `tool_${at}`,
      description: `Looks up articles of group ${at}, their stock in all branches, and what they cost with and without tax.`,
      parameters: {
        type: 'object',
        properties: {
          article: { type: 'string', description: 'Number of the article, as it stands on the label' },
          branch: { type: 'string', enum: ['north', 'south', 'east', 'west'] },
          count: { type: 'integer', minimum: 1, maximum: 100 },
          options: { type: 'object', properties: { tax: { type: 'boolean' }, currency: { type: 'string' } } },
        },
        required: ['article'],
      },
    },
  }));
}
