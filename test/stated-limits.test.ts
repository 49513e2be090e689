import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type JsonSchema, operationsOf } from './helpers/definition.ts';
import { type RunningService, runningService } from './helpers/service.ts';
import { type RunningTrace, runningTrace } from './helpers/trace.ts';

/** Where a limit is stated: words of a definition (or of its JSON), and words of docs/limits.md. */
interface Stated {
  definition: string;
  docs: string;
}
const stated = (definition: string, docs = definition): Stated => ({ definition, docs });
/** The statement that the rate limit of a route adds to its description. */
const rate = (max: number, time: string, docs: string) =>
  stated(`An address can send ${max} such requests in ${time} (429).`, docs);

/** Every constant that bounds what a request can ask for, with its folder and value. Another value needs other words. */
const STATED: Record<string, Stated> = {
  'platform/http: MAX_CONTAINERS = 20_000': stated('20,000 arrays and objects', '| 20,000 |'),
  'platform/http: MAX_VALUES = 262_144': stated('262,144 values', '| 262,144 |'),
  'platform/http: MAX_JSON_DEPTH = 64': stated('64 levels', '| levels of a JSON body | 64 |'),
  'platform/http/pipeline: BODY_BYTES = { total: 64 * 1024 * 1024, perCaller: 32 * 1024 * 1024 }': stated(
    'can each use 32 MiB of memory',
    '32 MiB per address, 64 MiB per process',
  ),
  'platform/http/pipeline: ANSWER_BYTES = { total: 128 * 1024 * 1024, perCaller: 32 * 1024 * 1024 }': stated(
    'answers not yet read can each use 32 MiB',
    '32 MiB per address, 128 MiB per process',
  ),
  'platform/http/pipeline: MIN_BYTES_PER_SECOND = 1024': stated('1 KiB/s on average over STALL_SECONDS'),
  'platform/http: FORM_BYTES = 64 * 1024': stated(
    'too large for this endpoint',
    '| form fields sent with a file | 64 KiB |',
  ),

  'geometry: MAX_AREA_M2 = 1000 * 4046.856_422_4': stated('1,000 acres'),
  'geometry: LIMITS = { positions: 5_000, rings: 256, latitude: 89, extent: 20_000, boxArea: 20e6, length: 100_000, }':
    stated(
      '5,000 positions, 256 rings, 1,000 acres, 20 km from side to side, a bounding box of 20 km², and 100 km of ' +
        'edges, between 89° south and 89° north',
      '5,000 positions, 256 rings, 1,000 acres, 20 km from side to side, a bounding box of 20 km², 100 km of edges',
    ),

  'packet-service/collaboration/people: MAX_NAMED = 100': stated(
    'user ids separated by commas, at most 100',
    'names of users at once | 100',
  ),
  'packet-service/collaboration/people: MAX_IDS_TEXT = 2000': stated(
    '"maxLength":2000',
    '2,000 characters of ids',
  ),
  'packet-service/collaboration/sharing/shares: SHARES_AN_HOUR = 200': stated(
    'a sender can make 200 shares and invitations an hour',
    '| shares and invitations a sender makes | 200 an hour',
  ),
  'packet-service/collaboration/sharing/notifications: MAILS_AN_HOUR = 20': stated(
    'at most 20 emails an hour',
    'shares with a token | 20 an hour',
  ),
  'packet-service/collaboration/sharing/notifications: OPEN_MAILS_AN_HOUR = 10': stated(
    'at most 10 an hour about shares without one',
    'shares without a token | 10 an hour',
  ),
  'packet-service/collaboration/sharing/shares: MAX_SENT = 100': stated(
    'The newest 100 shares',
    'the newest 100 | left out',
  ),
  'packet-service: MIN_EXPORT_BYTES_PER_SECOND = 64 * 1024': stated(
    'A client that reads less than 64 KiB/s, on average over a minute',
    '| the speed at which an export is read | 64 KiB/s',
  ),
  'packet-service: PER_MINUTE = 12_000': stated('12,000 requests a minute', '12,000 a minute'),
  'packet-service/intake/attachments: UPLOAD_DAYS = 7': stated(
    'It expires after 7 days',
    '7 days, 10,000 pieces',
  ),
  'packet-service/intake/attachments: MAX_PIECES = 10_000': stated('10,000 pieces'),
  'packet-service/maintenance/administration: MAX_LIMIT = 1000': stated(
    'at most 1000',
    '| items on a page | 1,000 |',
  ),
  'packet-service/intake/attachments: PIECE_BYTES = 2 * 1024 * 1024': stated(
    'one for every 2 MiB',
    'one per 2 MiB',
  ),
  'packet-service/collaboration/chat: MAX_PAGE = 1000': stated(
    'items per page, at most 1000',
    '| items on a page | 1,000 |',
  ),
  'packet-service/collaboration/chat: MAX_ADDED = 1000': stated(
    '"maxItems":1000',
    '| participants added at once | 1,000 |',
  ),
  'packet-service/collaboration/chat/messages: MAX_TEXT = 250': stated(
    '250 Unicode characters',
    '250 characters',
  ),
  'packet-service/core/contract: MAX_USER = 256': stated(
    '"maxLength":256',
    '| user identifiers | 256 characters |',
  ),
  'packet-service/core/contract: MAX_REFERENCE = 2048': stated('at most 2048 characters', '2,048 characters'),
  'packet-service/reading/feed: LIMITS = { feeds: 5000, heartbeatMs: 20_000, lifeMs: 3600 * 1000, }': stated(
    'FEEDS_PER_CALLER feeds open (429), a process 5,000 (503)',
    'FEEDS_PER_CALLER; 5,000 per process; an hour each',
  ),
  'packet-service/reading/feed: MAX_WAITING_BYTES = 256 * 1024': stated(
    'when its client reads too slowly',
    '256 KiB',
  ),
  'packet-service/core/geoids: MAX_BODY_BYTES = 2 * 1024 * 1024': stated('Maximum body size: 2 MiB', '2 MiB'),
  'packet-service/core/geoids: MAX_FEATURES = 1000': stated('"maxItems":1000', '1,000 features'),
  'packet-service/core/geoids: MAX_NAME = 200': stated(
    '"maxLength":200',
    '| names of fields | 200 characters |',
  ),
  'packet-service/core/geoids: MAX_NAMED = 100': stated(
    'separated by commas, at most 100',
    '100 GeoIDs; the first 20',
  ),
  'packet-service/core/geoids: MAX_FOUND = 20': stated(
    'returns the first 20 matches',
    'the first 20 with a name',
  ),
  'packet-service/core/geoids: MAX_ADDITIONAL_GEOIDS = 100': stated(
    'at most 100 further GeoIDs',
    '| additional GeoIDs of a packet | 100 |',
  ),
  'packet-service/core/geoids: MAX_LIMIT = 1000': stated(
    'fields per page: 100 by default, at most 1000',
    '| items on a page | 1,000 |',
  ),
  'packet-service/core/geoids: MAX_TAKERS = 2000': stated(
    'more than 2,000 smaller fields',
    '2,000, 16 MiB of boundaries',
  ),
  'packet-service/core/geoids: MAX_TAKERS_LENGTH = 16 * 1024 * 1024': stated(
    '16 MiB of their boundaries',
    '2,000, 16 MiB of boundaries',
  ),
  'packet-service/core/geoids: MAX_WAITING = 200': stated(
    'temporarily unavailable',
    '| boundaries waiting for a check | 200 per process |',
  ),
  'packet-service/core/idempotency: KEY_DAYS = 7': stated('for 7 days', '255 characters, for 7 days'),
  'packet-service/intake: MAX_ITEMS = 1000': stated('"maxItems":1000', '1,000 items'),
  'packet-service/intake: MAX_AHEAD_MS = 24 * 3600 * 1000': stated(
    "at most a day ahead of the server's clock",
    "| a time in a packet | a day ahead of the server's clock |",
  ),
  'packet-service/intake: MAX_BATCH_BYTES = 16 * 1024 * 1024': stated('Maximum body size: 16 MiB', '16 MiB'),
  'packet-service/core/packet-format: MAX_PACKET_BYTES = 512 * 1024': stated('at most 512 KiB', '512 KiB'),
  'packet-service/core/packet-format: MAX_ATTACHMENTS = 100': stated(
    '"maxItems":100',
    '| attachments of a packet | 100 |',
  ),
  'packet-service/core/packet-format: MAX_LENGTH = 35': stated(
    '"maxLength":35',
    '| language tags | 35 characters |',
  ),
  'packet-service/core/packets: MAX_HOURS = 48': stated('at most 48', '| hours counted at once | 48'),
  'packet-service/core/packets: MAX_LIMIT = 1000': stated('at most 1000', '| items on a page | 1,000 |'),
  'packet-service/core/packets: MAX_METRES = 20_100_000': stated('at most 20,100,000', '20,100,000 m'),
  'packet-service/collaboration/sharing/directory: MAX_CONTACT = 320': stated(
    '"maxLength":320',
    'of 320 characters',
  ),
  'packet-service/collaboration/sharing/directory: MAX_CONTACTS = 20': stated(
    '"maxItems":20',
    '20, of 320 characters',
  ),
  'packet-service/collaboration/sharing/directory: CONFIRMATIONS_AN_HOUR = 20': stated(
    '20 confirmations an hour',
    '20 an hour per user',
  ),
  'packet-service/collaboration/sharing/directory: CONTACTS_OF_A_SENDER = 60': stated(
    '60 different contacts an hour',
    '60 an hour',
  ),
  'packet-service/collaboration/sharing/directory: CONTACTS_OF_AN_ENTRY = 60': stated(
    'A user may enter 60 different contacts an hour',
    'entered into the directory | 60 an hour per user',
  ),
  'packet-service/collaboration/sharing/directory: CONTACTS_OF_AN_ADDRESS = 600': stated(
    'an address without a token 600',
    'an address without a token 600',
  ),
  'packet-service/collaboration/sharing/directory: SECRET_DAYS = 7': stated(
    'for 7 days',
    '| validity of links in emails | 7 days |',
  ),
  'packet-service/reading/sync: MAX_WAITING = 5000': stated(
    'FEEDS_PER_CALLER requests waiting (429), a process 5,000 (503)',
    'FEEDS_PER_CALLER; 5,000 per process; 60 seconds each',
  ),
  'packet-service/reading/sync: MAX_WAIT = 60': stated('at most 60', '60 seconds each'),

  'packet-service/reading/tables: MAX_COLUMNS = 1000': stated(
    'at most 1000 of at most 256 characters',
    '| additional columns of a table | 1,000, of 256 characters |',
  ),
  'packet-service/reading/tables: MAX_NAME = 256': stated(
    'at most 1000 of at most 256 characters',
    '1,000, of 256 characters',
  ),
  'packet-service/reading/tables: MAX_COLUMNS_TEXT = 8000': stated(
    '"maxLength":8000',
    '`columns=` | 8,000 characters |',
  ),

  'trace-backend/base/audit: MAX_SEARCHED_USERS = 200': stated(
    'can match at most 200 users',
    '| users that match `user` of the audit | 200 |',
  ),
  'trace-backend: PER_MINUTE = 1200': stated('1,200 requests a minute', '1,200 a minute'),
  'trace-backend: BODY_LIMIT = 1024 * 1024': stated('Maximum body size: 1 MiB', '1 MiB; 16 KiB'),
  'packet-service/reading/tiles: MAX_BOUNDARIES = 1024 * 1024': stated(
    'at most 2,000, and 1 MiB of boundaries',
    '1 MiB of boundaries',
  ),
  'packet-service/reading/tiles: MAX_CANDIDATES = 20_000': stated(
    'at most 20,000 packets',
    '20,000 packets read',
  ),
  'packet-service/reading/tiles: MAX_FIELD = 100': stated(
    'must contain `text`; at most 100 characters',
    '| `field` and `text` of a tile | 100 characters |',
  ),
  'packet-service/reading/tiles: MAX_OUTLINES = 2000': stated(
    'at most 2,000, and 1 MiB of boundaries',
    '2,000 fields, 1 MiB',
  ),
  'packet-service/reading/tiles: MAX_SINGLES = 2000': stated(
    'more than 2,000 in a tile are grouped',
    '2,000 observations shown one by one',
  ),
  'packet-service/reading/tiles: MAX_TEXT = 100': stated(
    'ignoring case; at most 100 characters',
    '| `field` and `text` of a tile | 100 characters |',
  ),
  'packet-service/reading/tiles: MAX_ZOOM = 22': stated('zoom, 0 to 22', '| zoom of a tile | 22 |'),
  'trace-backend/base/access: OPEN_BODY_BYTES = 16 * 1024': stated(
    'Maximum body size: 16 KiB',
    '1 MiB; 16 KiB',
  ),
  'trace-backend/identity/email-change: rateLimit max: 20, timeWindow: 15 * 60_000': rate(
    20,
    '15 minutes',
    '20 in 15 minutes',
  ),
  'trace-backend/identity/self-service: rateLimit max: 20, timeWindow: 15 * 60_000': rate(
    20,
    '15 minutes',
    '20 in 15 minutes',
  ),
  'trace-backend/catalogue/companies: rateLimit max: 20, timeWindow: 15 * 60_000': rate(
    20,
    '15 minutes',
    '20 in 15 minutes',
  ),
  'trace-backend/identity/api-keys: MAX_API_KEYS = 50': stated(
    'at most 50 keys',
    '| keys for programs of a user | 50 |',
  ),
  'trace-backend/identity/api-keys: LONGEST_DAYS = 5 * 365': stated('at most 1825 days', '1,825 days'),
  'trace-backend/identity/api-keys: DEFAULT_DAYS = 365': stated('by default 365', 'a year by default'),
  'trace-backend/identity/api-keys: rateLimit max: 60, timeWindow: 15 * 60_000': rate(
    60,
    '15 minutes',
    '60 in 15 minutes',
  ),
  'trace-backend/identity/sessions: rateLimit max: 60, timeWindow: 60_000': rate(
    60,
    'a minute',
    '60 a minute',
  ),
  'trace-backend/public/feedback: rateLimit max: 20, timeWindow: 3600_000': rate(20, 'an hour', '20 an hour'),
  'trace-backend/public/feedback: FORM_BYTES = 64 * 1024': stated(
    'Maximum body size: 64 KiB.',
    'feedback 64 KiB',
  ),
  'trace-backend/public/label-pages: rateLimit max: 60, timeWindow: 10 * 60_000': rate(
    60,
    '10 minutes',
    '60 in 10 minutes',
  ),
  'trace-backend/catalogue/images: rateLimit max: 120, timeWindow: 60_000': rate(
    120,
    'a minute',
    '120 a minute',
  ),
  'trace-backend/personal-data: rateLimit max: 10, timeWindow: 3600_000': rate(10, 'an hour', '10 an hour'),
  'trace-backend/personal-data: MAX_EXPORT_MS = 3600_000': stated('It ends after an hour', 'an hour at most'),
  'trace-backend/catalogue/companies/invitations: MAX_PER_HOUR = 20': stated(
    '20 invitations an hour per sender',
    '| invitations, of users and of email addresses | 20 an hour per sender |',
  ),
  'trace-backend/public/feedback: MAX_PER_DAY = 500': stated(
    'at most 500 a day',
    '| feedback about a label | 500 a day',
  ),
  'trace-backend/public/feedback: MAX_PER_LABEL = 10_000': stated('10,000 in all'),
  'trace-backend/identity/sessions: MAX_SESSIONS = 100': stated(
    'at most 100 sessions',
    '| sessions of a user | 100 |',
  ),
  'trace-backend/identity/users: MIN_PASSWORD = 8': stated('"minLength":8', '8 to 128 characters'),
  'trace-backend/identity/users: MAX_PASSWORD = 128': stated('"maxLength":128', '8 to 128 characters'),
  'trace-backend/catalogue/companies/record: MAX_ENTRIES = 100': stated(
    'at most 100; replaces the list',
    '| documents of a company | 100 |',
  ),
  'trace-backend/catalogue/companies/record: MAX_LINKS = 50': stated(
    'links by medium, at most 50',
    '| links of a company | 50 |',
  ),
  'trace-backend/catalogue/codes: MAX_CODES = 10_000': stated(
    'at most 10,000 entries',
    '| entries of a code list | 10,000 |',
  ),
  'trace-backend/identity/settings: MAX_SETTINGS = 1000': stated(
    'at most 1,000 settings',
    '| settings of the front end | 1,000 |',
  ),
  'trace-backend/public/label-requests: rateLimit max: 120, timeWindow: 60_000': rate(
    120,
    'a minute',
    '120 a minute',
  ),
  'trace-backend/catalogue/value-chains: MAX_CODES = 1000': stated(
    '"maxItems":1000',
    '| codes of one kind in a value chain | 1,000 |',
  ),
  'trace-backend/catalogue/value-chains: MAX_VALUE_CHAINS = 100': stated(
    '"maxItems":100',
    '| value chains of a company | 100 |',
  ),
  'trace-backend/catalogue/companies/invitations: MAX_TO_ADDRESS = 5': stated(
    'An address can be invited 5 times a day by all senders',
    '| invitations of one email address, by all senders | 5 a day | 429 |',
  ),
  'trace-backend/identity/failed-mails: MAX_REPLAYED = 1_000': stated(
    'at most 1,000 in a call, oldest first',
    '1,000 sent again in one call',
  ),
  'trace-backend/identity/mails: FAILED_DAYS = 90': stated(
    'They are kept for 90 days',
    '| failed emails about accounts | 90 days;',
  ),
  'trace-backend/catalogue/companies/invitations: ADDRESS_DAYS = 30': stated(
    'Such an invitation expires after 30 days',
    '| an invitation of an email address | 30 days | removed |',
  ),
  'trace-backend/catalogue/companies/record: MAX_NAMES = 20': stated(
    '"maximum":20',
    '| companies in a search by name | 20 |',
  ),
  'trace-backend/catalogue/companies/members: MAX_MEMBERS = 500': stated(
    '500 users per company',
    '| users of a company | 500 |',
  ),
  'trace-backend/base/contract: MAX_LIMIT = 1000': stated(
    'values above 1000 mean 1000',
    '| items on a page | 1,000 |',
  ),
  'trace-backend/catalogue/currency: DAILY_LIMIT = 250': stated('at most 250 times a day', '250 a day'),
  'trace-backend/catalogue/currency: USER_LIMIT = 100': stated(
    '100 for one user',
    '100 of them for one user',
  ),
  'trace-backend/catalogue/currency: MAX_DAYS = 3660': stated('3,660 days'),
  'trace-backend/catalogue/currency: MAX_RATES_BYTES = 32 * 1024 ** 2': stated(
    'at most 32 MB',
    '| a file of exchange rates | 32 MB |',
  ),
  'trace-backend/catalogue/images: MAX_PIXELS = 50_000_000': stated('50 million pixels'),
  'trace-backend/catalogue/images: MAX_IMAGE_BYTES = 10 * MEGABYTE': stated('10 MB'),
  'trace-backend/catalogue/images: MAX_DOCUMENT_BYTES = 25 * MEGABYTE': stated('25 MB'),
  'trace-backend/catalogue/images: EXPIRE_DAYS = 30': stated(
    'removed after 30 days',
    '| 30 days | removed |',
  ),
  'trace-backend/public/knowledge-blog: MAX_ENTRIES = 1000': stated(
    'At most 1,000 for a product',
    "| entries of a product's knowledge blog | 1,000 |",
  ),
  'trace-backend/catalogue/labels: MAX_FIELDS = 200': stated('"maxItems":200', '| fields of a label | 200 |'),
  'trace-backend/catalogue/labels/contents: MAX_NAMES = 500': stated(
    '"maxItems":500',
    '| fields that a label takes over from its product at once | 500 |',
  ),
  'trace-backend/catalogue/labels/batches: MAX_BATCHES = 10_000': stated(
    'A label has at most 10,000',
    '| batches of a label | 10,000 |',
  ),
  'trace-backend/catalogue/products/origin: MAX_POSITIONS = 15_000': stated('15,000 positions in all'),
  'trace-backend/catalogue/products/origin: MAX_POSITIONS = 2000': stated('2,000 positions'),
  'trace-backend/catalogue/products/origin: MAX_EXTENT = 5 * GRID': stated('5 degrees from side to side'),
  'trace-backend/catalogue/products/origin: LARGEST_POINT_HA = 4': stated('more than 4 hectares'),
  'trace-backend/catalogue/final-products: MAX_FINAL_PRODUCTS = 1000': stated(
    'A product has at most 1,000',
    '| final products of a product | 1,000 |',
  ),
  'trace-backend/catalogue/products/labels: MAX_LABELS = 100': stated(
    'has at most 100',
    '| labels of a product | 100 |',
  ),
};

/** Constants with such names that bound our own work, or what is kept, shown or logged of a request. */
const INTERNAL = new Set([
  'platform/http/reasons: MAX_INTEGER',
  'platform/http/reasons: MAX_ITEMS',
  'platform/http/reasons: MAX_LENGTH',
  'platform/http/reasons: MAX_VALUE',
  'geometry: MAX_CONTACTS',
  'packet-service: MAX_DEAD',
  'packet-service/core/access: LIMITS',
  'packet-service/core/access: MAX_KNOWN',
  'packet-service/intake/attachments: MAX_CARRIERS',
  'packet-service/collaboration/chat/ngrams: MAX_REQUIRED',
  'packet-service/collaboration/chat/search: MAX_SETS',
  'packet-service/collaboration/chat/search: MAX_STEP',
  'packet-service/collaboration/chat/threads: MAX_KNOWN',
  'packet-service/maintenance/erasure: MAX_REASON',
  'packet-service/collaboration/sharing/notifications: MAX_DIGESTED',
  'packet-service/core/geoids: KEPT_BYTES',
  'packet-service/core/geoids: MAX_FIELDS',
  'packet-service/core/geoids: MAX_HEAP',
  'packet-service/core/geoids: MAX_LOADS',
  'packet-service/core/geoids: MAX_POINTS',
  'packet-service/core/geoids: MAX_REFUSAL_LENGTH',
  'packet-service/core/geoids: MAX_SIMILAR',
  'packet-service/intake: PARSED_BYTES',
  'packet-service/core/log: MAX_ROWS',
  'packet-service/core/packets: HEADER_BYTES',
  'packet-service/core/packets: MAX_CELLS',
  'packet-service/core/packets: PAGE_BYTES',
  'packet-service/core/packets: POINT_BYTES',
  'packet-service/reading/tables: MAX_COUNTED',
  'packet-service/reading/tables: MAX_KNOWN_FIELDS',
  'packet-service/reading/tables: MAX_REMEMBERED',
  'packet-service/reading/tables: START_BYTES',
  'packet-service/reading/tiles: LONGEST_VARINT',
  'packet-service/reading/tiles: MAX_AGE_MS',
  'packet-service/reading/tiles: MAX_KEPT',
  'packet-service/maintenance/verify: MAX_THREADS',
  'packet-service/core/writer: MAX_BATCHES',
  'packet-service/core/writer: MAX_BYTES',
  'packet-service/core/writer: MAX_PACKETS',
  'packet-service/core/writer: MAX_WAITING_BYTES',
  'platform/http: MAX_COMPLAINTS',
  'platform/http/pipeline: MAX_DISCARDED',
  'platform/http: MAX_FORWARDED',
  'platform/http: MAX_LENGTH',
  'platform/http/pipeline: MAX_NETWORKS',
  'platform/http/pipeline: MAX_PARAM_LENGTH',
  'platform/http: MAX_PATH',
  'platform/http: PART_BYTES',
  'platform/mail: MAX_RETRY_SECONDS',
  'trace-backend/identity/second-factor: RECOVERY_BYTES',
  'trace-backend/identity/second-factor: SECRET_BYTES',
  'trace-backend/identity/sessions: MAX_USER_AGENT',
  'trace-backend/identity/users: SALT_BYTES',
  'trace-backend/base/contract: MAX_ID',
  'trace-backend/base/lists: MAX_CACHED',
  'trace-backend/catalogue/companies/invitations: MAX_PER_RUN',
  'trace-backend/catalogue/currency: MAX_FAILURES',
  'trace-backend/catalogue/currency: MAX_FAULTS',
  'trace-backend/catalogue/currency: MAX_GAP_DAYS',
  'trace-backend/catalogue/currency: MAX_HOLIDAYS',
  'trace-backend/catalogue/currency: MAX_REST_MS',
  'trace-backend/catalogue/currency: MAX_WAIT_MS',
  'trace-backend/catalogue/images: MAX_NAMED',
  'trace-backend/catalogue/images: MAX_PER_SWEEP',
  'trace-backend/catalogue/labels/contents: MAX_CHANGES',
  'trace-backend/catalogue/labels/counts: MAX_VISITS',
  'trace-backend/catalogue/labels/counts: MAX_WAITING',
  'trace-backend/identity/api-keys: MAX_PER_QUERY',
  'trace-backend/identity/sessions: MAX_PER_QUERY',
  'trace-backend/public/feedback: MAX_UNSEEN_LABELS',
  'trace-backend/public/label-pages: CACHE_BYTES',
  'trace-backend/public/label-pages: MIN_CONTRAST',
  'trace-backend/public/label-pages: MIN_DEGREES',
  'trace-backend/public/label-pages: MIN_DISTANCE',
  'trace-backend/public/label-pages: SHOWN_BYTES',
  'trace-backend/catalogue/currency: MAX_LINE',
  'trace-backend/catalogue/currency: SETTLED_DAYS',
  'trace-backend/catalogue/images: MAX_NAME',
  'trace-backend/catalogue/products/history: MAX_CHANGES',
]);

/** Settings that bound what a request can ask for. */
const SETTINGS = [
  'MAX_ATTACHMENT_BYTES',
  'CONCURRENT_UPLOADS',
  'UPLOADS_PER_CALLER',
  'FEEDS_PER_CALLER',
  'STALL_SECONDS',
  'RATE_LIMIT',
];

const NAME =
  /^(?:export )?const ((?:MAX|MIN|LONGEST|LARGEST)_\w+|PER_MINUTE|LIMITS|\w+_LIMIT|\w+_BYTES|\w+_DAYS|CONTACTS_OF_\w+|\w+_AN_HOUR) = (\{[^}]*\}|[^;]*);/gm;

/** The constants that look like limits, as `folder: NAME = value`. */
async function limitsInCode(): Promise<string[]> {
  const found: string[] = [];
  for await (const file of glob('src/{platform/http,geometry,packet-service,trace-backend}/**/*.ts')) {
    if (file.endsWith('.test.ts')) continue;
    const folder = path.dirname(file).slice('src/'.length);
    const text = (await readFile(file, 'utf8')).replaceAll(/\/\*\*.*?\*\//gs, '');
    for (const [, name, value = ''] of text.matchAll(NAME)) {
      // Found below, by the part that limits.
      if (name === 'RATE_LIMIT') continue;
      found.push(`${folder}: ${name} = ${value.replaceAll(/\s+/g, ' ')}`);
    }
    for (const [, value = ''] of text.matchAll(/rateLimit: \{([^}]*)\}/g)) {
      found.push(`${folder}: rateLimit ${value.trim()}`);
    }
  }
  // How many items a page has when nothing is said is no limit.
  return found.filter(limit => !limit.includes(': DEFAULT_LIMIT =')).sort();
}

let packet: RunningService;
let trace: RunningTrace;
beforeAll(async () => {
  packet = await runningService();
  trace = await runningTrace();
});
afterAll(() => Promise.all([packet.stop(), trace.stop()]));

const definitions = async () => ({
  packet: (await packet.send('GET', '/openapi.json')).text,
  trace: (await trace.send('GET', '/v3/api-docs')).text,
});

test('every limit of the code is in a definition and in docs/limits.md', async () => {
  const named = (await limitsInCode()).filter(limit => !INTERNAL.has(limit.split(' = ')[0] as string));
  expect([...new Set(named)]).toEqual(Object.keys(STATED).sort());
  const docs = (await readFile('docs/limits.md', 'utf8')).replaceAll(/\s+/g, ' ');
  const { packet: packetText, trace: traceText } = await definitions();
  for (const [limit, { definition, docs: row }] of Object.entries(STATED)) {
    const texts = limit.startsWith('trace-backend')
      ? [traceText]
      : limit.startsWith('platform')
        ? [packetText, traceText]
        : [packetText];
    for (const text of texts) expect(text.includes(definition), `${limit}: "${definition}"`).toBe(true);
    expect(docs.includes(row), `docs/limits.md has "${row}" for ${limit}`).toBe(true);
  }
});

test('every setting that limits a request is in the definition, in docs/limits.md and in docs/settings.md', async () => {
  const { packet: text } = await definitions();
  const pages = [await readFile('docs/limits.md', 'utf8'), await readFile('docs/settings.md', 'utf8')];
  for (const setting of SETTINGS) {
    for (const where of [text, ...pages]) expect(where.includes(setting), setting).toBe(true);
  }
});

/** Paths of a schema that have no bound, neither as a keyword nor in words of their own. */
function unbounded(schema: JsonSchema, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { type, description = '', properties = {}, items, anyOf = [] } = schema;
  const inWords = /\d|as long as/.test(description) || schema.const !== undefined || schema.enum;
  const bounds: Record<string, string[]> = {
    string: ['maxLength', 'pattern', 'format'],
    array: ['maxItems'],
    integer: ['maximum'],
    number: ['maximum'],
  };
  const missing = bounds[type] && !inWords && !bounds[type].some(keyword => schema[keyword] !== undefined);
  return [
    ...(missing ? [`${path}: ${type}`] : []),
    ...anyOf.flatMap((option: JsonSchema) => unbounded(option, path)),
    ...Object.entries(properties).flatMap(([name, value]) => unbounded(value, `${path}.${name}`)),
    ...(inWords ? [] : unbounded(items, `${path}[]`)),
  ];
}

test('every parameter and field of a request has a limit in its definition', async () => {
  for (const operations of [
    await operationsOf(packet.send, '/openapi.json'),
    await operationsOf(trace.send, '/v3/api-docs'),
  ]) {
    const found = operations.flatMap(({ method, path: url, parameters, body }) => [
      // All headers together have a bound.
      ...parameters
        .filter(({ in: location }) => location !== 'header')
        .flatMap(({ name, schema, ...rest }) =>
          unbounded({ ...rest, ...schema }, `${method} ${url} ${name}`),
        ),
      ...Object.values(body).flatMap(schema => unbounded(schema, `${method} ${url}`)),
    ]);
    expect(found).toEqual([]);
  }
});
