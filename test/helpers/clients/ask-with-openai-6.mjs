// Run by the host's own Node, which may be older than the project's: streams one answer with the SDK for such a Node.
import OpenAI from 'openai-6';

const client = new OpenAI({ baseURL: process.argv[2], apiKey: process.argv[3], maxRetries: 0 });
const messages = [{ role: /** @type {const} */ ('user'), content: 'Say hello.' }];
const stream = await client.chat.completions.create({ model: 'auto', stream: true, messages });
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '');
