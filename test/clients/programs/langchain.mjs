import { ChatOpenAI } from '@langchain/openai';
import { createAgent, tool } from 'langchain';
import { z } from 'zod';

const { CLIENT_FORMAT, CLIENT_MODEL, CLIENT_PROMPT: content } = process.env;
const getWeather = tool(({ city }) => `It rains 7 ducks an hour in ${city}.`, {
  name: 'get_weather',
  description: 'The weather of a city',
  schema: z.object({ city: z.string() }),
});
const model = new ChatOpenAI({ model: CLIENT_MODEL, useResponsesApi: CLIENT_FORMAT === 'responses' });
const { messages } = await createAgent({ model, tools: [getWeather] }).invoke({
  messages: [{ role: 'user', content }],
});
console.log(messages.at(-1).text);
