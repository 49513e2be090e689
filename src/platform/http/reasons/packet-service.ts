import {
  conflict,
  forbidden,
  gone,
  internal,
  invalid,
  notFound,
  notImplemented,
  preconditionFailed,
  rangeNotSatisfiable,
  tooLarge,
  tooManyRequests,
  unauthenticated,
  unavailable,
  unsupportedMediaType,
} from './reason.ts';

/** Where a place is for which the asset registry could not be asked. */
const UNDECIDED = '{field}: GeoID resolution failed for now, try again later: the asset registry' as const;
/** How an operator mends it. */
const CHECK_REGISTRY = 'The operator checks the settings ASSET_REGISTRY_URL and ASSET_REGISTRY_TOKEN.';

/** The reasons of the packet service. */
export const packetReasons = {
  // core: callers, their tokens and keys
  'token.missing': unauthenticated('this needs a token: Authorization: Bearer …'),
  'token.not_checkable': unauthenticated(
    'no key is configured to check the token with',
    'The operator sets USER_REGISTRY_JWT_SECRET or USER_REGISTRY_JWKS_URL.',
  ),
  'token.malformed': unauthenticated('Authorization must be: Bearer <token>'),
  'token.wrong_type': unauthenticated('the token is of type {type}, not access'),
  'token.session_ended': unauthenticated('the session of the token has ended; log in again'),
  'token.second_factor_missing': unauthenticated(
    'the role of the user needs a second factor: set one up at the trace backend, or log in with its code',
  ),
  'token.user_not_activated': unauthenticated("the token's user is not activated"),
  'token.without_user': unauthenticated('the token names no user in sub'),
  'key.not_checkable': unauthenticated(
    'no registry is configured to ask about keys',
    'The operator sets USER_REGISTRY_URL.',
  ),
  'key.second_factor_missing': unauthenticated(
    'the role of the user needs a second factor, without which the key was created: create another with it',
  ),
  'key.registry_answer_unusable': unavailable(
    'the key cannot be checked: the user registry gave no usable answer',
    'The operator checks the setting SERVICE_TOKEN.',
  ),
  'user.not_of_token': forbidden('{field} must be the user of the token'),
  'user.has_tokens': forbidden('{field} is a user who has tokens: this needs one of them'),
  // core: values of requests
  'validation.unknown_cursor': invalid('cursor must be the next_cursor of an earlier page'),
  'validation.no_date_time_or_date': invalid('{field} must be an ISO 8601 date-time or date'),
  'timestamp.malformed': invalid('{field} must be an ISO 8601 date-time such as 2026-03-01T08:15:00Z'),
  'timestamp.without_offset': invalid('{field} must be an ISO 8601 date-time with its UTC offset'),
  'idempotency_key.answer_erased': gone(
    'what the request with Idempotency-Key "{key}" created was erased',
    'Nothing can be done: the packet must not come back.',
  ),
  'idempotency_key.other_body': conflict(
    'Idempotency-Key "{key}" was used before with another body',
    'Send each new body with a new key.',
  ),
  // core: fields and GeoIDs
  'field.registered_elsewhere': notImplemented(
    'fields are registered in the configured asset registry; register them there',
  ),
  'field.too_many_boundaries': unavailable('too many large boundaries wait to be read'),
  'field.not_feature_or_collection': invalid('type must be Feature or FeatureCollection'),
  'field.wrong_feature_count': invalid('features must be an array of 1 to {max} Features'),
  'field.not_feature': invalid('{field} must be Feature'),
  'field.not_object': invalid('{field} must be an object'),
  'field.wrong_name': invalid('{field} must be a string of at most {max} characters'),
  'field.wrong_names_query': invalid('the query must have either geoids or name'),
  'field.unknown': notFound('there is no field {geoid}'),
  'field.inside_foreign': forbidden('{which} lies inside field {geoid}, which another user registered'),
  'field.takes_half_of_foreign': forbidden(
    '{which} and other fields would take more than half of field {geoid}, which another user registered',
  ),
  'field.too_many_around_foreign': forbidden(
    '{which} takes a part of field {geoid}, which another user registered, and there are too many fields around it to measure what would be left',
    'Register a field that takes no part of it, or ask an administrator.',
  ),
  'field.inside_needs_token': unauthenticated(
    'field {geoid}, in which {which} lies, was created with a token and needs one: Authorization: Bearer …',
  ),
  'field.overlap_needs_token': unauthenticated(
    'field {geoid}, in which {which} lies in part, was created with a token and needs one: Authorization: Bearer …',
  ),
  'field.no_geoid_left': conflict(
    'there is no GeoID left for this boundary: fields of other shapes have all of its',
  ),
  'field.has_packets': conflict('packets refer to field {geoid}, so it cannot be deleted'),
  'field.not_own': forbidden(
    'only the user who registered field {geoid}, or an administrator, can delete it',
  ),
  'field.needs_token': unauthenticated(
    'field {geoid} was created with a token and needs one: Authorization: Bearer …',
  ),
  'geoid.point_off_globe': invalid('{field} must have lat from -90 to 90 and lon from -180 to 180'),
  'geoid.point_outside_fields': invalid(
    '{field}: GeoID resolution failed: the point is in no registered field',
  ),
  'geoid.polygon_outside_fields': invalid(
    '{field}: GeoID resolution failed: the polygon is in no registered field',
  ),
  'geoid.refused_by_registry': invalid(
    '{field}: GeoID resolution failed: the asset registry says: {message}',
  ),
  'field.too_many_registrations': unavailable('too many requests wait to register fields'),
  'upload.too_many': unavailable('{max} uploads are in progress already'),
  'geoid.registry_away': invalid('{field}: GeoID resolution failed for now, try again later: {trouble}'),
  'geoid.registry_refuses_token': invalid(`${UNDECIDED} does not accept our token`, CHECK_REGISTRY),
  'geoid.registry_answers_status': invalid(
    `${UNDECIDED} answered {status}; is its address right?`,
    CHECK_REGISTRY,
  ),
  'geoid.registry_answer_of_other_shape': invalid(
    `${UNDECIDED} sent an answer of another shape`,
    CHECK_REGISTRY,
  ),
  'geoid.registry_geoids_of_other_form': invalid(`${UNDECIDED} sent GeoIDs of another form`, CHECK_REGISTRY),
  'geoid.registry_geoid_of_other_form': invalid(`${UNDECIDED} sent a GeoID of another form`, CHECK_REGISTRY),
  'geoid.registry_fields_of_other_shape': invalid(
    `${UNDECIDED} sent a list of fields of another shape`,
    CHECK_REGISTRY,
  ),
  'geoid.registry_field_of_other_shape': invalid(
    `${UNDECIDED} sent a field of another shape`,
    CHECK_REGISTRY,
  ),
  // core: packets and their log
  'packet.unknown': notFound('there is no packet {id}'),
  'packet.erased': gone('packet {id} was erased on {date}; /packets/{id}/verify has its Header and hash'),
  'packet.needs_token': unauthenticated(
    "this packet's thread was created with a token and needs one: Authorization: Bearer …",
  ),
  'packet.of_foreign_thread': forbidden('only participants of its thread can read this packet'),
  'packet.too_large': tooLarge('the packet is larger than {max} bytes of JSON'),
  'packet.near_malformed': invalid('near must be lat,lon,metres'),
  'packet.near_out_of_range': invalid('near must have a latitude, a longitude and 0 to {max} metres'),
  'packet.arrivals_before_1970': invalid('from must be in 1970 or later'),
  'packet.too_many_waiting': unavailable('too many packets wait to be written; nothing was stored'),
  'packet.not_storable': internal(
    'the packet could not be stored',
    'Nothing was changed. Tell the operator the X-Request-Id of the answer.',
  ),
  'packet.no_disk_space': unavailable('the database has no disk space left; send the packet again'),
  'packet.database_read_only': unavailable('the database accepts no writes for now; send the packet again'),
  'packet.not_stored_in_time': unavailable(
    'the database does not answer: nothing was stored; send the packet again',
  ),
  'packet.perhaps_stored': unavailable(
    'the database does not answer: it may have been stored; send the packet again',
    'Send it with the same Idempotency-Key, or with the same Header.id: it is stored only once.',
  ),
  'export.too_many': unavailable('too many exports run at the same time; try again'),
  'log.other': conflict('{field} belongs to another log, as after a restored backup: start over, without it'),
  'log.just_replaced': unavailable('the log has just been replaced'),
  // collaboration: chat
  'message.empty': invalid('text must not be empty when there are no attachments'),
  'message.too_long': invalid('{field} is longer than {max} Unicode characters'),
  'thread.unknown': notFound('there is no thread {id}'),
  'thread.needs_token': unauthenticated(
    'thread {id} was created with a token and needs one: Authorization: Bearer …',
  ),
  'thread.user_not_participant': forbidden('{field} does not take part in thread {id}'),
  'thread.caller_not_participant': forbidden('the user of the token does not take part in thread {id}'),
  'thread.left': notFound('{user} does not take part in the thread any more'),
  'thread.unknown_message': invalid('message_id must be the packet_id of a message of the thread'),
  'participant.unknown': notFound('{user} takes no part in thread {id}'),
  // collaboration: sharing
  'contact.wrong_length': invalid('{field} must have 1 to {max} characters'),
  'contact.control_character': invalid('{field} must not hold control characters'),
  'contact.nothing_to_confirm': notFound(
    'there is nothing to confirm; the link may have been used or expired',
  ),
  'contact.too_many': tooManyRequests('more than {max} different contacts in an hour; try again later'),
  'directory_entry.unknown': notFound('{user} is not in the directory'),
  'share.unknown': notFound('there is no share {id}'),
  'share.needs_token': unauthenticated(
    'share {id} was created with a token and needs one: Authorization: Bearer …',
  ),
  'share.not_recipient': forbidden('only the recipient can accept or reject a share'),
  'share.decided': conflict('share {id} was {status} before'),
  'share.too_many': tooManyRequests('more than {max} shares in an hour; try again later'),
  'invitation.unknown': notFound('there is no such invitation; it may have been used or expired'),
  'invitation.needs_token': unauthenticated(
    'this invitation was created with a token and needs one: Authorization: Bearer …',
  ),
  'invitation.list_needs_token': unauthenticated(
    'invitations of a user need a token: Authorization: Bearer …',
  ),
  'invitation.contact_not_confirmed': forbidden('contact_value must be a confirmed contact of the user'),
  // intake: observations, batches and finalized packets
  'timestamp.ahead': invalid(
    "{field} is more than a day ahead of the server's clock; correct the time of the device",
    'Keep the item, and let the user correct the time of the device. The Date header has the time of the server.',
  ),
  'observation.without_place': invalid('capture_point is required (or geojson in its place)'),
  'observation.wrong_coordinates': invalid(
    'geojson.coordinates must be longitude (-180 to 180), latitude (-90 to 90)',
  ),
  'intake_batch.without_body': invalid('the body must be a JSON array, or NDJSON'),
  'intake_batch.not_array': invalid('the body must be an array'),
  'intake_batch.incomplete_array': invalid('the body is not a complete JSON array'),
  'intake_batch.empty': invalid('the body must have 1 to {max} items, it has none'),
  'intake_batch.too_many_items': invalid('the body must have 1 to {max} items, it has more'),
  'intake_batch.item_too_large': tooLarge('the item is larger than {max} bytes'),
  'packet.wrong_hash': invalid('Footer.hash is not the hash of this Header and Body, which is {hash}'),
  'packet.wrong_enc': invalid('Footer.enc must be none or encrypted'),
  'packet.encrypted_without_jwe': invalid(
    'Footer.enc can only be encrypted with a JSON Web Encryption in Body.jwe',
  ),
  'packet.wrong_lang': invalid('Footer.lang must be a language tag (BCP 47)'),
  'packet.id_taken': conflict('Header.id {id} belongs to a packet with another hash'),
  // intake: attachments and their uploads
  'attachment.unknown': notFound('there is no attachment {id}'),
  'attachment.malformed_id': invalid('id must be att_ followed by a ULID'),
  'attachment.needs_token': unauthenticated(
    '{id} was created with a token and needs one: Authorization: Bearer …',
  ),
  'attachment.not_reader': forbidden(
    'only its uploader and readers of a packet that refers to it can read {id}',
  ),
  'attachment.range_outside': rangeNotSatisfiable('Range is outside the file, which has {size} bytes'),
  'attachment.not_one_file': invalid('file must be one file, in a field of that name'),
  'attachment.too_large': tooLarge('file is larger than {max} bytes (MAX_ATTACHMENT_BYTES)'),
  'attachment.id_taken': conflict('id {id} belongs to another file'),
  'attachment.named_with_token': unauthenticated(
    "a packet sent with a token refers to {id}: it can only be uploaded with that user's token",
  ),
  'attachment.named_by_other': forbidden('only the user whose packet first referred to {id} can upload it'),
  'attachment.other_file': conflict('the file is not {id}: the packet that refers to it says sha256 {hash}'),
  'upload.unknown': notFound('there is no upload {id}'),
  'upload.needs_token': unauthenticated(
    'upload {id} was created with a token and needs one: Authorization: Bearer …',
  ),
  'upload.not_own': forbidden('only the user who began an upload can continue it'),
  'upload.wrong_version': preconditionFailed('Tus-Resumable must be {version}'),
  'upload.wrong_content_type': unsupportedMediaType('Content-Type must be {type}'),
  'upload.malformed_metadata': invalid(
    'Upload-Metadata must be pairs of a key and a base64 value, each key once',
  ),
  'upload.null_in_metadata': invalid('{key} in Upload-Metadata must not hold the character U+0000'),
  'upload.malformed_attachment_id': invalid('id in Upload-Metadata must be att_ followed by a ULID'),
  'upload.without_length': invalid('Upload-Length is required, or Upload-Defer-Length: 1 in its place'),
  'upload.length_changed': invalid('Upload-Length was {length}, and cannot be changed'),
  'upload.length_too_small': invalid('Upload-Length must not be less than the {received} bytes received'),
  'upload.beyond_length': invalid('the body goes beyond the {length} bytes of Upload-Length'),
  'upload.wrong_offset': conflict('Upload-Offset must be where the upload ends; that was {received}'),
  'upload.too_many_pieces': conflict('the upload came in more than {max} pieces; start over'),
  // reading
  'table.malformed_columns': invalid('columns must be names separated by commas, quoted as in CSV'),
  'table.empty_column_name': invalid('columns has an empty name'),
  'table.too_many_columns': invalid('columns: a table has at most {max} columns beside the declared ones'),
  'table.column_name_too_long': invalid('columns: {name}… has more than {max} characters'),
  'tile.off_map': invalid('{field} must be 0 to {max} at zoom {zoom}'),
  'tile.field_without_text': invalid('{field} is required: field and text go together'),
  'sync.user_and_geoid': invalid('user_id cannot be combined with geoid'),
  'sync.too_many_waiting': unavailable('too many requests are waiting; retry without wait'),
  'feed.too_many': unavailable('too many feeds are open; reconnect with Last-Event-ID'),
  'feed.log_not_readable': unavailable('the log cannot be read yet; reconnect with Last-Event-ID'),
  // maintenance
  'administration.needs_token': unauthenticated(
    'what administrators see was created with a token and needs one: Authorization: Bearer …',
  ),
  'dead_letter.unknown': notFound(
    'there is no such dead letter; it was delivered, dismissed or is being tried again',
  ),
  'dead_letter.malformed_ids': invalid('ids must be notification_ids, with commas between'),
};
