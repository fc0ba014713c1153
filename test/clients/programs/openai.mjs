import OpenAI from 'openai';

const { CLIENT_FORMAT, CLIENT_MODEL: model, CLIENT_PROMPT: content } = process.env;
const openai = new OpenAI();
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const getWeather = ({ city }) => `It rains 7 ducks an hour in ${city}.`;
const described = { name: 'get_weather', description: 'The weather of a city', parameters };

console.log(await (CLIENT_FORMAT === 'responses' ? askResponses() : askChat()));

/** With the SDK's own loop over tools. */
async function askChat() {
  const tools = [{ type: 'function', function: { ...described, parse: JSON.parse, function: getWeather } }];
  const messages = [{ role: 'user', content }];
  return openai.chat.completions.runTools({ model, messages, tools, stream: true }).finalContent();
}

/** With the SDK's accumulator of events; the history is sent again with each request. */
async function askResponses() {
  const input = [{ role: 'user', content }];
  const tools = [{ type: 'function', strict: false, ...described }];
  for (;;) {
    const answer = await openai.responses.stream({ model, input, tools, store: false }).finalResponse();
    const calls = answer.output.filter(({ type }) => type === 'function_call');
    if (calls.length === 0) return answer.output_text;
    input.push(...answer.output);
    for (const { call_id, arguments: given } of calls) {
      input.push({ type: 'function_call_output', call_id, output: getWeather(JSON.parse(given)) });
    }
  }
}
