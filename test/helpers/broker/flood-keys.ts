import { Agent, request } from 'node:http';
import { checksumLength, computeKeyChecksum } from '#shared/accounts/keys/key-format.ts';
import { generateKey } from '#shared/accounts/keys/generate-key.ts';

// Requests an ingress's models with one wrong key after the other, a thousand a second, and reports the answers. Runs as a process of its
// own, so that it does not disturb the test's measurements.

const { FLOOD_URL: url = '', FLOOD_COUNT: count = '', FLOOD_ID: id = '' } = process.env;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const counts: Record<number, number> = {};

/** Returns a wrong secret for an existing id: it costs the most, because it is compared with a hash. */
function wrongSecret(): string {
  const [word = '', , secret = ''] = generateKey('router').rawKey.split('_');
  const unchecked = `${word}_${id}_${secret.slice(0, -checksumLength)}`;
  return unchecked + computeKeyChecksum(unchecked);
}

function ask(key: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/api/openai/models`,
      { agent, headers: { authorization: `Bearer ${key}` } },
      (answer) => {
        const { statusCode = 0 } = answer;
        counts[statusCode] = (counts[statusCode] ?? 0) + 1;
        answer.resume().on('end', resolve);
      },
    );
    sent.on('error', reject).end();
  });
}

const begin = performance.now();
const asked: Promise<void>[] = [];
for (let at = 0; at < Number(count); at += 1) {
  asked.push(ask(at % 2 === 0 ? generateKey('router').rawKey : wrongSecret()));
  const aheadMs = at - (performance.now() - begin);
  if (aheadMs > 5) await new Promise((resolve) => setTimeout(resolve, aheadMs));
}
await Promise.all(asked);
agent.destroy();
process.stdout.write(`${JSON.stringify({ msg: 'flood is over', counts, ms: performance.now() - begin })}\n`);
process.disconnect?.();
