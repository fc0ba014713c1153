import Anthropic from '@anthropic-ai/sdk';

const { CLIENT_MODEL: model, CLIENT_PROMPT: content } = process.env;
const anthropic = new Anthropic();
const input_schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = [{ name: 'get_weather', description: 'The weather of a city', input_schema }];
const messages = [{ role: 'user', content }];

for (;;) {
  const answer = await anthropic.messages.stream({ model, max_tokens: 4096, messages, tools }).finalMessage();
  messages.push({ role: 'assistant', content: answer.content });
  const calls = answer.content.filter(({ type }) => type === 'tool_use');
  if (calls.length === 0) {
    console.log(answer.content.map(({ text }) => text).join(''));
    break;
  }
  const results = calls.map(({ id, input }) => {
    return { type: 'tool_result', tool_use_id: id, content: `It rains 7 ducks an hour in ${input.city}.` };
  });
  messages.push({ role: 'user', content: results });
}
