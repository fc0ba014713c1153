import { expect, it } from 'vitest';
import { TurnOrder } from '#shared/broker/dispatch/queue/turn-order.ts';

/** The names of those that have so many turns. */
function turns(order: TurnOrder<string>, count: number): string {
  return Array.from({ length: count }, () => {
    const [[name] = ['']] = order;
    order.count(name);
    return name;
  }).join('');
}

it('each has as many turns as its weight, then goes behind the others', () => {
  const order = new TurnOrder<string>();
  for (const [name, weight] of [
    ['a', 3],
    ['b', 1],
    ['c', 2],
  ] as const)
    order.add(name, name, weight);
  expect(order.weights).toBe(6);
  expect(turns(order, 13)).toBe('aaabccaaabcca');
  order.delete('a');
  expect(order.weights).toBe(3);
  expect(turns(order, 6)).toBe('bccbcc');
});

it('a changed weight counts from the next turn on', () => {
  const order = new TurnOrder<string>();
  order.add('a', 'a', 50);
  order.add('b', 'b', 1);
  order.reweigh('a', 2);
  expect(order.weights).toBe(3);
  expect(turns(order, 7)).toBe('aabaaba');
});
