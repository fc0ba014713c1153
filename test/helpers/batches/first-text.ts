import type OpenAI from 'openai';

/** Returns the milliseconds to the first text of a streamed live request, for which the demo engine takes this many. */
export async function firstTextMs(openai: OpenAI, engineMs: number): Promise<number> {
  const begun = performance.now();
  const stream = await openai.chat.completions.create({
    model: 'demo',
    messages: [{ role: 'user', content: `Hello.\n[demo delay=${engineMs} tokens=3]` }],
    stream: true,
  });
  let ms: number | undefined;
  for await (const { choices } of stream) if (choices[0]?.delta.content) ms ??= performance.now() - begun;
  return ms ?? Number.NaN;
}

/** Returns the number of requests that the demo engine is answering. */
export async function activeAt(engineUrl: string): Promise<number> {
  const answer = await fetch(`${engineUrl}/demo/state`);
  return ((await answer.json()) as { active: number }).active;
}
