#!lua
-- commit: do all of a plan, or none of it. Knows no rule.
-- KEYS     1 log (base of the segments)   2 head {seq ms h}   3 clock   4 done   5 feed   6.. whatever the plan names
-- ARGV     1 not after, ms by the space's clock, or 0   2 request   3 result   4 life of done, ms   5 length of the feed
--          6 event for the feed, or ''   then counted lists:
--          expect   n, then n of: key field value      field '#' is the size of a sorted set, '#<score>' how many it
--                   has from there on, '@<member>' the score of a member; value '' is absent
--          writes   n, then n of: count command key argument...      an argument '\0<i>' becomes the id of the i-th entry
--          entries  n, then n of: l s e count place...
-- returns  {'ok', id...} | {'again', what has changed, or ''} | {'done', record} | {'denied', command, key} | {'corrupt', key}
local SEGMENT = 1024
local at = 6
local function take() at = at + 1 return ARGV[at] end
local function many() return tonumber(take()) end
local function key() return KEYS[many()] end

local done = redis.call('GET', KEYS[4])
if done then return {'done', done} end

local t = redis.call('TIME')
local head = redis.call('HMGET', KEYS[2], 'seq', 'ms', 'h')
local now = t[1] * 1000 + math.floor(t[2] / 1000) + (redis.call('GET', KEYS[3]) or 0)
now = math.max(now, tonumber(head[2] or 0)) -- a clock that was set back brings nothing back to life
if ARGV[1] ~= '0' and now > tonumber(ARGV[1]) then return {'again', ''} end
for _ = 1, many() do
  local k, field, value = key(), take(), take()
  local from, member = field:match('^#(%d+)$'), field:match('^@(.+)$')
  local is = from and redis.call('ZCOUNT', k, from, '+inf')
    or field == '#' and redis.call('ZCARD', k)
    or redis.call(member and 'ZSCORE' or 'HGET', k, member or field) or ''
  if tostring(is) ~= value then return {'again', k} end
end

local writes = {}
local function plan(...) writes[#writes + 1] = {...} end
for _ = 1, many() do
  local w = {}
  for i = 1, many() do w[i] = take() end
  w[2] = KEYS[tonumber(w[2])]
  plan(unpack(w))
end

local seq, h = tonumber(head[1] or 0), head[3] or ''
local function segment(n) return KEYS[1] .. ':' .. math.floor((n - 1) / SEGMENT) end
local ids = {}
for n = 1, many() do
  local l, s, e = take(), take(), take()
  if n == 1 and seq > 0 and redis.call('HEXISTS', segment(seq), seq) == 0 then return {'corrupt', segment(seq)} end
  seq = seq + 1
  if redis.call('HEXISTS', segment(seq), seq) == 1 then return {'corrupt', segment(seq)} end
  ids[n] = string.format('%.0f-%d', now, seq)
  h = redis.sha1hex(h .. ids[n] .. l)
  plan('HSETNX', segment(seq), seq, table.concat({ids[n], l, h, s, e}, ' '))
  for _ = 1, many() do plan('RPUSH', key(), seq) end
end
if #ids > 0 then plan('HSET', KEYS[2], 'seq', seq, 'ms', now, 'h', h) end
if ARGV[6] ~= '' then plan('XADD', KEYS[5], 'MAXLEN', '~', ARGV[5], '*', 'c', ARGV[6], 'i', table.concat(ids, ' ')) end
plan('SET', KEYS[4], table.concat({ARGV[2], table.concat(ids, ' '), ARGV[3]}, '\n'), 'PX', ARGV[4])

for _, w in ipairs(writes) do -- a script that fails midway is not rolled back, so nothing is written before all may be
  for i, a in ipairs(w) do w[i] = type(a) == 'string' and a:sub(1, 1) == '\0' and ids[tonumber(a:sub(2))] or a end
  if not redis.acl_check_cmd(unpack(w)) then return {'denied', w[1], w[2]} end
end
for _, w in ipairs(writes) do redis.call(unpack(w)) end
return {'ok', unpack(ids)}
