/*
 * Preloaded into the services of the chaos cluster: shifts the time of `Date` by as many milliseconds as the parent process orders. Timers
 * and `performance` do not change, as on a machine whose clock is set.
 */

const { now } = Date;
let shiftMs = 0;

const shiftedNow = (): number => now() + shiftMs;

globalThis.Date = new Proxy(Date, {
  construct: (target, args: unknown[], self) => {
    const given = args.length === 0 ? [shiftedNow()] : args;
    return Reflect.construct(target, given, self) as Date;
  },
  apply: () => new Date().toString(),
  get: (target, name, self): unknown => (name === 'now' ? shiftedNow : Reflect.get(target, name, self)),
});

process.on('message', (message) => {
  if (typeof message !== 'object' || message === null || !('shiftClockMs' in message)) return;
  shiftMs = Number(message.shiftClockMs);
});
