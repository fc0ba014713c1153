import type { Locator, Page } from 'playwright-core';

/** Returns a prompt to which the demo engine answers with a text. */
export const say = (text: string): string => `[demo say ${JSON.stringify(text)}]`;

/** Locates the models' answers in the playground. */
export const answersOn = (page: Page): Locator => page.getByRole('article', { name: 'Model' });

/** Sends a text in the playground; returns the next answer, of the first model where there are two. */
export async function askOn(page: Page, text: string): Promise<Locator> {
  const before = await answersOn(page).count();
  await page.getByLabel('Your message', { exact: true }).fill(text);
  await page.keyboard.press('Control+Enter');
  return answersOn(page).nth(before);
}

/** Sends a text and waits until the answer is over. */
export async function askAndWaitOn(page: Page, text: string): Promise<Locator> {
  const answer = await askOn(page, text);
  await answer.getByText(/tokens in/).waitFor();
  return answer;
}

/** Allows the model to use a tool of the router. */
export async function chooseTool(page: Page, tool: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Tools of this router' }).click();
  await page.getByRole('option', { name: tool }).click();
  await page.keyboard.press('Escape');
}
