import type { Locator, Page } from 'playwright-core';
import { goodPassword } from './good-password.ts';

export async function signInAt(page: Page, email: string, password = goodPassword): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

export async function signOutAt(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Account of/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
}

/** Chooses an option of a field of the page, or of a part of it. */
export async function choose(place: Page | Locator, field: string, option: string): Promise<void> {
  const page = 'page' in place ? place.page() : place;
  await place.getByRole('combobox', { name: field }).click();
  await page.getByRole('option', { name: option }).click();
}

/** Chooses an entry of the menu of actions for something. */
export async function chooseAction(page: Page, what: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${what}` }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

/** Presses a button, and then one of the dialog that it opens. */
export async function pressAndConfirm(page: Page, button: string, confirmation: string): Promise<void> {
  await page.getByRole('button', { name: button }).click();
  await page.getByRole('dialog').getByRole('button', { name: confirmation }).click();
}

/** Creates what the open dialog asks for, keeps the secret that is shown then, and closes it. */
export async function takeSecret(page: Page, button: string, secret: string): Promise<string> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: button }).click();
  const raw = await dialog.getByRole('group', { name: secret }).innerText();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  return raw;
}
