/** How to ask for a model with one client. */
export interface Snippet {
  id: string;
  name: string;
  /** Where the code goes. */
  about: string;
  code: string;
}

/**
 * How to ask for a model with each of the usual clients. The key is always in the variable RTR_KEY, never in the code.
 * @param origin where the router is, as `http://127.0.0.1:8484`
 */
export function snippetsFor(model: string, origin: string, segments: { chat: string; messages: string }): Snippet[] {
  const chat = `${origin}/api/${segments.chat}`;
  const messages = `${origin}/api/${segments.messages}`;
  const name = JSON.stringify(model);
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] });
  return [
    {
      id: 'curl',
      name: 'curl',
      about: 'For a shell.',
      code: `curl ${shellWord(`${chat}/chat/completions`)} \\
  -H "Authorization: Bearer $RTR_KEY" -H "Content-Type: application/json" \\
  -d ${shellWord(body)}`,
    },
    {
      id: 'openai-ts',
      name: 'OpenAI, TypeScript',
      about: 'Package openai.',
      code: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${chat}/v1', apiKey: process.env.RTR_KEY });
const stream = await client.chat.completions.create({
  model: ${name},
  stream: true,
  messages: [{ role: 'user', content: 'Hello!' }],
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');`,
    },
    {
      id: 'openai-py',
      name: 'OpenAI, Python',
      about: 'Package openai.',
      code: `import os
from openai import OpenAI

client = OpenAI(base_url="${chat}/v1", api_key=os.environ["RTR_KEY"])
answer = client.chat.completions.create(model=${name}, messages=[{"role": "user", "content": "Hello!"}])
print(answer.choices[0].message.content)`,
    },
    {
      id: 'anthropic-ts',
      name: 'Anthropic, TypeScript',
      about: 'Package @anthropic-ai/sdk.',
      code: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: '${messages}', apiKey: process.env.RTR_KEY });
const message = await client.messages.create({
  model: ${name},
  max_tokens: 1000,
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(message.content);`,
    },
    {
      id: 'anthropic-py',
      name: 'Anthropic, Python',
      about: 'Package anthropic.',
      code: `import os
from anthropic import Anthropic

client = Anthropic(base_url="${messages}", api_key=os.environ["RTR_KEY"])
message = client.messages.create(
    model=${name},
    max_tokens=1000,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(message.content[0].text)`,
    },
    {
      id: 'claude-code',
      name: 'Claude Code',
      about: 'For a shell; without --model it asks for the models that it knows itself.',
      code: `ANTHROPIC_BASE_URL=${shellWord(messages)} ANTHROPIC_AUTH_TOKEN=$RTR_KEY claude --model ${shellWord(model)}`,
    },
    {
      id: 'opencode',
      name: 'opencode',
      about: 'In opencode.json; the model is then called router/… there.',
      code: JSON.stringify(
        {
          $schema: 'https://opencode.ai/config.json',
          provider: {
            router: {
              npm: '@ai-sdk/openai-compatible',
              name: 'Model Router',
              options: { baseURL: `${chat}/v1`, apiKey: '{env:RTR_KEY}' },
              models: { [model]: { name: model } },
            },
          },
        },
        null,
        2,
      ),
    },
  ];
}

/** A word that a POSIX shell takes literally. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
