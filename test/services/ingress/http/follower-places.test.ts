import { expect, it } from 'vitest';
import { FollowerPlaces } from '#services/ingress/http/follower-places.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const refused = errorWith('rate_limit_exceeded', { retryAfter: 5 });

it('sixteen clients follow one answer, and a place is free when one of them leaves', () => {
  const places = new FollowerPlaces();
  const leave = Array.from({ length: 16 }, () => places.occupy('ada', 'a'));
  expect(() => places.occupy('ada', 'a')).toThrow(refused);
  places.occupy('ada', 'b');
  places.occupy('bob', 'a');
  leave[3]?.();
  places.occupy('ada', 'a');
  expect(() => places.occupy('ada', 'a')).toThrow(refused);
});

it('512 clients follow the answers of one owner, and others are not affected', () => {
  const places = new FollowerPlaces();
  const leave = Array.from({ length: 512 }, (_, index) => places.occupy('ada', `a${index}`));
  expect(() => places.occupy('ada', 'another')).toThrow(refused);
  places.occupy('bob', 'another');
  for (const each of leave) each();
  places.occupy('ada', 'another');
});
