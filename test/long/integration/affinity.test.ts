import { expect, it, onTestFinished } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { least } from '../../helpers/least.ts';
import { findLlamaServer, startLlamaServer } from '../../helpers/upstreams/start-llama-server.ts';

/** An answer, and how many tokens of its prompt the engine had in its cache. */
interface Turn {
  prompt: number;
  cached: number;
  text: string;
}

async function ask({ url, key }: Cluster, messages: object[]): Promise<Turn> {
  const asked = { model: 'tiny', messages, max_tokens: 8, reasoning_effort: 'none' };
  const streamed = { stream: true, stream_options: { include_usage: true } };
  const answer = await post({ url, key, body: { ...asked, ...streamed } });
  const turn: Turn = { prompt: 0, cached: 0, text: '' };
  let rest = '';
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = `${rest}${chunk}`.split('\n\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue;
      const { choices, usage } = JSON.parse(line.slice(6));
      turn.text += choices?.[0]?.delta?.content ?? '';
      turn.prompt = usage?.prompt_tokens ?? turn.prompt;
      turn.cached = usage?.prompt_tokens_details?.cached_tokens ?? turn.cached;
    }
  }
  return turn;
}

it('conversations on two real llama-servers find the cache of their prompt', { tags: ['llama-server'] }, async () => {
  const program = findLlamaServer() ?? '';
  const servers = await Promise.all([startLlamaServer(program), startLlamaServer(program)]);
  onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
  const [one, two] = servers;
  const cluster = await startCluster({ engineUrl: one.url });
  onTestFinished(() => cluster.stop());
  await cluster.addWorker({ ENGINE_URL: two.url });
  let names = 0;
  /** The largest part of a prompt, in four turns of two conversations, that its engine had not in its cache. */
  const uncached = async (): Promise<number> => {
    const conversations: object[][] = [0, 1].map(() => [{ role: 'system', content: `${names++} `.repeat(3000) }]);
    const turns: Turn[] = [];
    for (let turn = 0; turn < 4; turn += 1) {
      for (const messages of conversations) {
        messages.push({ role: 'user', content: `question ${turn}` });
        const answered = await ask(cluster, messages);
        messages.push({ role: 'assistant', content: answered.text });
        if (turn > 0) turns.push(answered);
      }
    }
    return Math.max(...turns.map(({ cached, prompt }) => 1 - cached / prompt));
  };
  // On a busy machine a worker may be silent for so long that its conversations move.
  expect(await least(uncached, 0.1)).toBeLessThan(0.1);
});
