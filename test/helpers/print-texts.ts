import { fill, type Language } from '../../messages/fill.ts';
import { ownCatalogue } from '../../scripts/message-catalogue.ts';
import { mailTexts } from '../../src/packet-service/collaboration/sharing/notifications/mails.ts';
import { certificationText } from '../../src/trace-backend/public/label-pages/texts.ts';

// A program: prints messages with counts, a mail and a date in every language, which Intl writes by the rules of each.
const { languages, messages } = ownCatalogue();
const { sharesDigest } = mailTexts({ publicUrl: 'https://packet.example', consoleUrl: undefined });
const validity = '2027-03-01';
const printed = Object.entries<Language>(languages).map(([tag, language]) => [
  ...[0, 1, 2, 1_234_567.5].map(count =>
    fill(messages[tag]?.['home.today.count'] ?? '', { count }, language),
  ),
  ...[0, 1, 2, 1234].map(count => sharesDigest(count, '7', { language: tag }).text),
  certificationText('', { id: 1, type: 'EU', validity }, tag),
]);
console.log(JSON.stringify(printed));
