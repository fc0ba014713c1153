import { Agent, run, setOpenAIAPI, setTracingDisabled, tool } from '@openai/agents';
import { z } from 'zod';

const { CLIENT_FORMAT, CLIENT_MODEL: model, CLIENT_PROMPT: prompt } = process.env;
// Traces go to their maker's own address.
setTracingDisabled(true);
if (CLIENT_FORMAT === 'chat') setOpenAIAPI('chat_completions');
const getWeather = tool({
  name: 'get_weather',
  description: 'The weather of a city',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `It rains 7 ducks an hour in ${city}.`,
});
const agent = new Agent({ name: 'Weather', instructions: 'Answer in a sentence.', model, tools: [getWeather] });
console.log((await run(agent, prompt)).finalOutput);
