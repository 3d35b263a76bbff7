#!lua
-- lease: be the only one who does something, for a while; whoever takes it after another gets a higher epoch.
-- KEYS     1 the lease {owner epoch until}
-- ARGV     1 'take', 'renew' or 'drop'   2 owner   3 epoch, of renew and drop   4 life, ms
-- returns  the epoch, or 0: somebody else holds it (take), or took it since (renew, drop)
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local is = redis.call('HMGET', KEYS[1], 'owner', 'epoch', 'until')
local epoch = tonumber(is[2] or 0)
if ARGV[1] == 'take' then
  if is[1] ~= ARGV[2] and now < tonumber(is[3] or 0) then return 0 end
  epoch = epoch + 1
elseif is[1] ~= ARGV[2] or epoch ~= tonumber(ARGV[3]) then
  return 0
end
local ends = now + (ARGV[1] == 'drop' and 0 or ARGV[4])
redis.call('HSET', KEYS[1], 'owner', ARGV[2], 'epoch', epoch, 'until', ends)
return epoch
