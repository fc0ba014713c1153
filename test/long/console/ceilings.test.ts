// @module-tag chromium
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { phone } from '../../helpers/console/console-page.ts';
import { choose, chooseAction, takeSecret } from '../../helpers/console/page-actions.ts';
import { expectFits, expectNoViolation } from '../../helpers/console/page-checks.ts';
import { shareConsole } from '../../helpers/console/console-with-ada.ts';
import { openPageAs, type KnownPerson } from '../../helpers/console/open-as.ts';
import { uniqueName } from '../../helpers/unique-name.ts';
import { until } from '../../helpers/until.ts';

describe('teams and ceilings in the console', () => {
  const here = shareConsole();
  const team = uniqueName('Engines');
  let bob: KnownPerson;
  let eve: KnownPerson;

  beforeAll(async () => {
    [bob, eve] = [await here.invite('Bob'), await here.invite('Eve')];
    const { body } = await here.ada.client.post('/teams', { name: team });
    await here.ada.client.put(`/teams/${body.id}/members/${bob.id}`, { role: 'owner' });
  });

  it('are set by an administrator, for one person and for new members, as other settings are', async () => {
    const { client: ada } = here.ada;
    const { newMembers, invitationDays, alertEmails } = (await ada.get('/settings')).body;
    onTestFinished(async () => void (await ada.patch('/settings', { newMembers, invitationDays, alertEmails })));
    const { page } = await openPageAs(here.ada, `/admin/people?search=${bob.name}`);
    await chooseAction(page, bob.name, 'Limits');
    await choose(page.getByRole('dialog'), 'Highest class', 'low');
    await expectNoViolation(page);
    await page.getByRole('button', { name: 'Save' }).click();
    await until(async () => expect(await page.getByRole('dialog').count()).toBe(0));
    const bobNow = (await ada.get('/users')).body.find(({ id }: { id: string }) => id === bob.id);
    expect(bobNow).toMatchObject({ ceiling: { maxClass: 'low' } });
    await page.goto('/admin/settings');
    await page.getByRole('group', { name: 'What new members begin with' }).getByLabel('Dollars a month').fill('20');
    await page.getByLabel('Days until an invitation expires').fill('3');
    await choose(page, 'Alerts of the router go by e-mail to', 'These addresses');
    await page.getByLabel('Addresses').first().fill('ops@example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await expectNoViolation(page);
    expect((await ada.get('/settings')).body).toMatchObject({
      newMembers: { limits: { costPerMonth: 20 } },
      invitationDays: 3,
      alertEmails: { router: ['ops@example.com'] },
    });
  });

  it('show somebody whose key an administrator has made what they cannot change', async () => {
    await here.ada.client.patch(`/users/${bob.id}`, { ceiling: { maxClass: 'low' } });
    const { page: admin } = await openPageAs(here.ada, '/keys');
    await admin.getByRole('button', { name: 'New key' }).click();
    const dialog = admin.getByRole('dialog');
    await choose(dialog, 'Person', bob.name);
    const name = uniqueName('build machine');
    await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
    await dialog.getByLabel('Dollars a month').fill('5');
    await takeSecret(admin, 'Create key', 'the key');
    const { page } = await openPageAs(bob, '/keys');
    await chooseAction(page, name, 'Change');
    const form = page.getByRole('dialog');
    await form.getByText('The owner of the key may use: class low at most.').waitFor();
    expect(await form.getByLabel('Dollars a month').isDisabled()).toBe(true);
    await form.getByLabel('Requests a minute').fill('30');
    await form.getByRole('button', { name: 'Save' }).click();
    await form.waitFor({ state: 'hidden' });
    const all = (await bob.client.get('/keys')).body as { name: string }[];
    expect(all.find((key) => key.name === name)).toMatchObject({
      limits: { costPerMonth: 5, requestsPerMinute: 30 },
      adminSet: ['limits.costPerMonth'],
    });
  });

  it('have a page for the owner of a team, who adds and removes people, which fits a phone', async () => {
    const { page } = await openPageAs(bob, '/teams');
    await page.getByRole('heading', { level: 2, name: team }).waitFor();
    await expectNoViolation(page);
    await page.getByRole('button', { name: `Change members of ${team}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Add someone by e-mail address').fill('nobody@example.com');
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByText('Nobody has an account with this address.').waitFor();
    await dialog.getByLabel('Add someone by e-mail address').fill(eve.email);
    await dialog.getByRole('button', { name: 'Add' }).click();
    await dialog.getByRole('button', { name: `Remove ${eve.name}` }).waitFor();
    await expectNoViolation(page);
    await dialog.getByRole('button', { name: `Remove ${eve.name}` }).click();
    await dialog.getByRole('button', { name: `Remove ${eve.name}` }).waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    // The name is an administrator's.
    expect(await page.getByRole('button', { name: /Rename/ }).count()).toBe(0);
    const { page: small } = await openPageAs(bob, '/teams', { look: phone });
    await expectFits(small);
  });

  it('are not in the menu of somebody without a team', async () => {
    const { page } = await openPageAs(eve, '/');
    await page.getByRole('link', { name: 'API keys' }).waitFor();
    expect(await page.getByRole('link', { name: 'Teams' }).count()).toBe(0);
  });
});
