import { at } from '../admin-client.ts';
import type { Person } from '../admin-answers.ts';
import { unconfirmed } from '../find-party.ts';
import { joined, planOf, type Plan, type Present } from './change.ts';
import { changedFields, differences } from './differences.ts';
import type { AccessFile } from './read-access.ts';

/**
 * The changes of people, without their keys.
 * @throws RouterError for somebody who has typed in an address that the file names
 */
export function planPeople({ access: { people = {} }, mistake }: AccessFile, present: Present): Plan {
  return joined(
    Object.entries(people).map(([email, { keys: _keys, ...wanted }]) => {
      const now = present.people.get(email);
      if (now?.emailConfirmed === false) throw mistake(['people', email], unconfirmed(now));
      const fields = differences(now, wanted);
      return planOf({
        does: now ? 'change' : 'create',
        what: `person ${email}`,
        fields,
        make: async (maker) => {
          const body = now ? changedFields(wanted, fields) : wanted;
          const { value } = await maker.client.send<Person>('PUT', at`/users-by-email/${email}`, { body });
          maker.people.set(email, value.id);
          return undefined;
        },
      });
    }),
  );
}
