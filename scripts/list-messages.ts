// npm run messages: lists what each language lacks, and is shown in English; and what is wrong in the catalogue of messages,
// such as messages that nothing uses. Ends with 1 only for the latter.
import { faultsOf, lackingMessages, ownCatalogue, usageFaults } from './message-catalogue.ts';

const catalogue = ownCatalogue();
const lacking = Object.entries(lackingMessages(catalogue));
for (const [language, keys] of lacking) for (const key of keys) console.log(`${language} lacks ${key}`);
for (const [language, keys] of lacking) {
  const { name } = catalogue.languages[language] as { name: string };
  console.log(`${language} (${name}): ${keys.length} lacking`);
}
const faults = [...faultsOf(catalogue), ...usageFaults(catalogue)];
for (const fault of faults) console.error(fault);
process.exitCode = faults.length === 0 ? 0 : 1;
