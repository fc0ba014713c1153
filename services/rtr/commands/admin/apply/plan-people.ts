import { pathOf, type AdminClient } from '../admin-client.ts';
import type { Person } from '../admin-answers.ts';
import { unconfirmed } from '../find-party.ts';
import { joinPlans, planChange, type Plan, type PresentAccess } from './change.ts';
import { changedFields, differences, type Difference } from './differences.ts';
import type { AccessFile } from './read-access.ts';
import { requireUnchanged } from './require-unchanged.ts';

/**
 * Plans the changes of people, without their keys.
 * @throws RouterError for an address in the file that a person has typed in and nobody has confirmed
 */
export function planPeople({ access: { people = {} }, mistake }: AccessFile, present: PresentAccess): Plan {
  return joinPlans(
    Object.entries(people).map(([email, { keys: _keys, ...wanted }]) => {
      const now = present.people.get(email);
      if (now && !now.emailConfirmed) throw mistake(['people', email], unconfirmed(now));
      const fields = differences(now, wanted);
      return planChange({
        does: now ? 'change' : 'create',
        what: `person ${email}`,
        fields,
        make: async (maker) => {
          if (now) return changePerson(maker.client, now.id, wanted, fields);
          const { value } = await maker.client.send<Person>('PUT', pathOf`/users-by-email/${email}`, { body: wanted });
          maker.people.set(email, value.id);
          return undefined;
        },
      });
    }),
  );
}

async function changePerson(
  client: AdminClient,
  id: string,
  wanted: object,
  fields: readonly Difference[],
): Promise<undefined> {
  const ifMatch = await requireUnchanged(client, pathOf`/users/${id}`, fields);
  const { name, ...body } = changedFields(wanted, fields);
  if (Object.keys(body).length > 0) await client.send('PATCH', pathOf`/users/${id}`, { body, ifMatch });
  if (name !== undefined) await client.send('PATCH', pathOf`/users/${id}/profile`, { body: { name } });
  return undefined;
}
