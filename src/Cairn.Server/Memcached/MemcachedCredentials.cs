using System.Security.Cryptography;
using Cairn.Platform;

namespace Cairn.Server.Memcached;

/// <summary>The users of a file in memcached's form: one <c>user:password</c> per line.</summary>
internal sealed class MemcachedCredentials
{
    // memcached's own limits.
    private const int MaxUsers = 8;
    private const int MaxEntryBytes = 256;

    private readonly List<(byte[] User, byte[] Password)> _users = [];

    /// <summary>Reads a file.</summary>
    /// <exception cref="ServerException">The file cannot be read, has no user or too many, or a line has no colon or is too
    /// long.</exception>
    public static MemcachedCredentials Load(string path)
    {
        try
        {
            return Parse(ShortFile.ReadText(path), path);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            throw new ServerException($"The file of users '{path}' cannot be read: {e.Message}", e);
        }
    }

    /// <summary>Reads the text of a file.</summary>
    /// <exception cref="ServerException">The text has no user or too many, or a line has no colon or is too long.</exception>
    public static MemcachedCredentials Parse(string text, string name)
    {
        var credentials = new MemcachedCredentials();
        int number = 0;
        foreach (string line in text.Split('\n'))
        {
            number++;
            string entry = line.TrimEnd('\r');
            if (entry.Length == 0)
            {
                continue;
            }

            int colon = entry.IndexOf(':', StringComparison.Ordinal);
            if (colon < 0 || Encoding.UTF8.GetByteCount(entry) > MaxEntryBytes)
            {
                throw new ServerException($"Line {number} of '{name}' must be user:password, of at most {MaxEntryBytes} bytes.");
            }

            credentials._users.Add((Encoding.UTF8.GetBytes(entry[..colon]), Encoding.UTF8.GetBytes(entry[(colon + 1)..])));
        }

        if (credentials._users.Count is 0 or > MaxUsers)
        {
            throw new ServerException($"'{name}' must have 1 to {MaxUsers} users, and has {credentials._users.Count}.");
        }

        return credentials;
    }

    /// <summary>Returns whether there is a user with this password. The time does not depend on the result.</summary>
    public bool Check(ReadOnlySpan<byte> user, ReadOnlySpan<byte> password)
    {
        bool isKnown = false;
        foreach ((byte[] knownUser, byte[] knownPassword) in _users)
        {
            isKnown |= CryptographicOperations.FixedTimeEquals(user, knownUser) & CryptographicOperations.FixedTimeEquals(password, knownPassword);
        }

        return isKnown;
    }
}
