import type { ClientFormat } from '#shared/formats/client-format.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import type { Translation } from '#shared/translate/translation.ts';
import { translations } from '#shared/translate/translations.ts';
import { toyFormat } from './toy-format.ts';
import { toyToChat } from './toy-to-chat.ts';

/*
 * Loaded into an ingress and a worker before they start (`--import`). Adds an entry to each of the two registries, as a commit
 * that adds a format would.
 */
(clientFormats as unknown as ClientFormat[]).push(toyFormat);
(translations as Translation[]).push(toyToChat);
