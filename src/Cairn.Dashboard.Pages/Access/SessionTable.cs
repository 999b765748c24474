// Who has logged in. A session is known by 32 random bytes in a cookie; its anti-forgery token follows from them by a key that never leaves the
// process, so that a page has to have been read to change anything.
//
//   I1  There are at most MaxSessions; the one that was used longest ago gives way.
//   I2  A session ends IdleTime after its last use, LifeTime after its begin, or when its user logs out.
using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;

namespace Cairn.Dashboard.Pages.Access;

internal sealed class SessionTable(TimeProvider clock)
{
    private const int MaxSessions = 1_000;
    private const int IdBytes = 32;

    private static readonly TimeSpan s_idleTime = TimeSpan.FromMinutes(30);
    private static readonly TimeSpan s_lifeTime = TimeSpan.FromHours(12);

    private readonly Lock _lock = new();
    private readonly Dictionary<string, Session> _sessions = new(StringComparer.Ordinal);
    private readonly byte[] _key = RandomNumberGenerator.GetBytes(IdBytes);

    /// <summary>Begins a session.</summary>
    /// <returns>What the cookie holds.</returns>
    public string Begin(DashboardUser user)
    {
        string id = Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(IdBytes));
        long now = clock.GetTimestamp();
        lock (_lock)
        {
            foreach (string ended in _sessions.Where(session => HasEnded(session.Value)).Select(session => session.Key).ToArray())
            {
                _sessions.Remove(ended);
            }

            if (_sessions.Count == MaxSessions)
            {
                _sessions.Remove(_sessions.MinBy(session => session.Value.UsedAt).Key); // I1
            }

            _sessions.Add(id, new Session(user, now, now));
        }

        return id;
    }

    /// <summary>Whose session it is; null if there is none.</summary>
    public DashboardUser? Find(string? id)
    {
        lock (_lock)
        {
            if (id is null || !_sessions.TryGetValue(id, out Session session))
            {
                return null;
            }

            if (HasEnded(session))
            {
                _sessions.Remove(id);
                return null;
            }

            _sessions[id] = session with { UsedAt = clock.GetTimestamp() };
            return session.User;
        }
    }

    /// <summary>Ends a session.</summary>
    public void End(string? id)
    {
        lock (_lock)
        {
            if (id is not null)
            {
                _sessions.Remove(id);
            }
        }
    }

    /// <summary>What requests that change something must carry, in a session or, with null, in none.</summary>
    public string TokenOf(string? id) => Base64Url.EncodeToString(HMACSHA256.HashData(_key, Encoding.UTF8.GetBytes(id ?? "nobody")));

    /// <summary>Whether it is the session's token, in a time that does not depend on how nearly it is.</summary>
    public bool IsToken(string? id, string? token) =>
        token is not null && CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(TokenOf(id)), Encoding.UTF8.GetBytes(token));

    // I2
    private bool HasEnded(Session session) => clock.GetElapsedTime(session.UsedAt) > s_idleTime || clock.GetElapsedTime(session.BeganAt) > s_lifeTime;

    private readonly record struct Session(DashboardUser User, long BeganAt, long UsedAt);
}
