// The sessions of users who have logged in. The identifier of a session is 32 random bytes in a cookie. Its anti-forgery token is derived
// from the identifier with a key that never leaves the process. So a client must have read a page to change anything.
//
//   I1  There are at most MaxSessions sessions. A new session replaces the one with the oldest last use.
//   I2  A session ends IdleTime after its last use, LifeTime after its beginning, or when its user logs out.
using System.Buffers.Text;
using System.Security.Cryptography;

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
    /// <returns>The identifier, which is the value of the cookie.</returns>
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

    /// <summary>Returns the user of a session; null if there is no such session.</summary>
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

    /// <summary>Returns the token that requests with a change must carry. A null identifier means that there is no session.</summary>
    public string TokenOf(string? id) => Base64Url.EncodeToString(HMACSHA256.HashData(_key, Encoding.UTF8.GetBytes(id ?? "no session")));

    /// <summary>Returns whether this is the session's token. The time does not depend on how many bytes are right.</summary>
    public bool IsToken(string? id, string? token) =>
        token is not null && CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(TokenOf(id)), Encoding.UTF8.GetBytes(token));

    // I2
    private bool HasEnded(Session session) => clock.GetElapsedTime(session.UsedAt) > s_idleTime || clock.GetElapsedTime(session.BeganAt) > s_lifeTime;

    private readonly record struct Session(DashboardUser User, long BeganAt, long UsedAt);
}
