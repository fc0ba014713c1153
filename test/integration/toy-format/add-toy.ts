import type { ClientFormat } from '#shared/formats/client-format.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import type { Translation } from '#shared/translate/translation.ts';
import { translations } from '#shared/translate/translations.ts';
import { toyFormat } from './toy-format.ts';
import { toyToChat } from './toy-to-chat.ts';

/*
 * Loaded into an ingress and a worker before they start (`--import`): does what a commit that adds a format would do, one
 * entry in each of the two registries.
 */
(clientFormats as unknown as ClientFormat[]).push(toyFormat);
(translations as Translation[]).push(toyToChat);
