import { openai } from '@ai-sdk/openai';
import { isStepCount, streamText, tool } from 'ai';
import { z } from 'zod';

const { CLIENT_FORMAT, CLIENT_MODEL = '', CLIENT_PROMPT: prompt } = process.env;
const getWeather = tool({
  description: 'The weather of a city',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => Promise.resolve(`It rains 7 ducks an hour in ${city}.`),
});
const { text } = streamText({
  model: CLIENT_FORMAT === 'responses' ? openai(CLIENT_MODEL) : openai.chat(CLIENT_MODEL),
  prompt,
  tools: { get_weather: getWeather },
  stopWhen: isStepCount(5),
});
console.log(await text);
