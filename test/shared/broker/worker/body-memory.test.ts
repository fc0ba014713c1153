import type { Step } from '../../../helpers/broker/scripted-handler.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';
import { until } from '../../../helpers/until.ts';
import { MemoryBudget } from '#shared/core/memory-budget.ts';

const mebibyte = 1024 * 1024;

/** A body of several parts, or of one part, which may be offered. */
const body = (bytes: number, steps: Step[]): Buffer =>
  Buffer.from(JSON.stringify({ steps, filler: 'x'.repeat(bytes) }));

it.for<[string, number, number]>([
  ['in parts', 2 * mebibyte, 3 * mebibyte],
  ['in one part', 200 * 1024, 300 * 1024],
])('a worker holds bodies %s in its share of the memory', async ([, bytes, memory], { ingress, addWorker, expect }) => {
  const bodies = new MemoryBudget(memory);
  const { id } = await addWorker({ slots: 4, bodies });
  const running = ingress.send({ body: body(bytes, [{ write: 'x' }, { hang: true }]) });
  await until(() => running.text() === 'x');
  // There is room for one and a half of them.
  const second = await ingress.send({ body: body(bytes, [{ whoami: true }]) }).finished;
  expect(second).toMatchObject({ state: 'failed', error: { code: 'overloaded' }, text: '' });
  expect(await ingress.send({ steps: [{ whoami: true }] }).finished).toMatchObject({ state: 'done', text: id });
  for (let more = 0; more < 4; more += 1) await ingress.send({ body: body(bytes, []) }).finished;
  expect(ingress.workers.get(id)?.health.isEjected('demo')).toBe(false);

  const { id: other } = await addWorker({ slots: 4 });
  expect(await ingress.send({ body: body(bytes, [{ whoami: true }]) }).finished).toMatchObject({ text: other });
  running.cancel();
  await until(async () => {
    const served = await ingress.send({ body: body(bytes, [{ whoami: true }]) }).finished;
    expect(served.text).toBe(id);
  });
});

it('a single body gets memory, however large it is', async ({ ingress, addWorker, expect }) => {
  const { id } = await addWorker({ slots: 2, bodies: new MemoryBudget(mebibyte) });
  const alone = await ingress.send({ body: body(2 * mebibyte, [{ whoami: true }]) }).finished;
  expect(alone).toMatchObject({ state: 'done', text: id });
  const failing = ingress.send({ body: body(2 * mebibyte, [{ fail: 'internal' }]) });
  expect((await failing.finished).state).toBe('failed');
  expect(await ingress.send({ steps: [{ whoami: true }] }).finished).toMatchObject({ state: 'done', text: id });
});

/** A body of many short strings, one of which begins with `first`. */
const textBody = (bytes: number, first: string, steps: Step[]): Buffer =>
  Buffer.from(JSON.stringify({ steps, texts: [first, ...Array(Math.floor(bytes / 1_003)).fill('x'.repeat(1_000))] }));

it('a body with a character outside of Latin-1 takes twice its memory, and leaves room for small ones', async ({
  ingress,
  addWorker,
  expect,
}) => {
  const { id } = await addWorker({ slots: 4, bodies: new MemoryBudget(4 * mebibyte) });
  const hanging: Step[] = [{ write: 'x' }, { hang: true }];
  const send = (first: string) => ingress.send({ body: textBody(1.5 * mebibyte, first, [{ whoami: true }]) }).finished;
  const latin = ingress.send({ body: textBody(1.5 * mebibyte, 'ÿ', hanging) });
  await until(() => latin.text() === 'x');
  expect(await send('Ā')).toMatchObject({ state: 'failed', error: { code: 'overloaded' } });
  expect(await send('ÿ')).toMatchObject({ state: 'done', text: id });
  latin.cancel();
  await until(async () => expect((await send('Ā')).text).toBe(id));
  const wide = ingress.send({ body: textBody(3 * mebibyte, 'Ā', hanging) });
  await until(() => wide.text() === 'x');
  expect(await send('ÿ')).toMatchObject({ state: 'failed', error: { code: 'overloaded' } });
  expect(await ingress.send({ steps: [{ whoami: true }] }).finished).toMatchObject({ state: 'done', text: id });
  wide.cancel();
});

it('an offer is refused if the memory suffices for the bytes of its body, but not for its text', async ({
  ingress,
  addWaiting,
  expect,
}) => {
  const [worker] = await addWaiting({ slots: 4, bodies: new MemoryBudget(mebibyte) });
  const running = ingress.send({ body: textBody(300 * 1024, 'ÿ', [{ write: 'x' }, { hang: true }]) });
  await until(() => running.text() === 'x');
  // The kinds of the worker's frames, see `Subjects.reply`.
  const kinds: (string | undefined)[] = [];
  const runningGrant = running.job.attempt?.grant ?? '';
  worker?.onSend((message, send) => {
    const { subject } = message;
    if (subject.startsWith(ingress.broker.subjects.reply(ingress.id, '')) && !subject.includes(runningGrant))
      kinds.push(subject.split('.').at(-2));
    send(message);
  });
  const wide = ingress.send({ body: textBody(400 * 1024, 'Ā', []) });
  await until(() => kinds.length > 0);
  expect(kinds[0]).toBe('r');
  wide.cancel();
  running.cancel();
});
