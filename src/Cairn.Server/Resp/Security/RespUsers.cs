using Cairn.Platform;

namespace Cairn.Server.Resp.Security;

/// <summary>
/// The users of the RESP protocol. There are three forms: no authentication, so that every client may execute every command; one password
/// for all clients; or a file with one user per line: <c>NAME PASSWORD ACCESS [PREFIX]</c>.
/// </summary>
/// <remarks>
/// PASSWORD is sha256:HEX, #HEX, pbkdf2:ITERATIONS:SALT:HASH (PBKDF2 with HMAC-SHA-256, in base64), or nopass. ACCESS is read-write or
/// read-only. All keys of the user begin with PREFIX. Empty lines, and lines that begin with # and a space, are skipped.
/// </remarks>
internal sealed class RespUsers
{
    private readonly Dictionary<string, RespUser> _users = new(StringComparer.Ordinal);
    private PasswordHash? _nobody; // Null while no user has a password, so that OpenSSL is not loaded.

    private RespUsers()
    {
    }

    /// <summary>Gets the users without authentication: every client may execute every command.</summary>
    public static RespUsers NoLogin { get; } = new RespUsers().With(RespUser.Everybody);

    /// <summary>Gets the user of a new connection; null if it must authenticate.</summary>
    public RespUser? Initial => Default is { Password: null } user ? user : null;

    /// <summary>Gets the user that a password without a name applies to.</summary>
    public RespUser? Default => _users.GetValueOrDefault(RespUser.DefaultName);

    /// <summary>Creates users with one password that permits every command.</summary>
    /// <exception cref="ServerException">The password is empty.</exception>
    public static RespUsers WithPassword(string password)
    {
        if (password.Length == 0)
        {
            throw new ServerException("The password of RESP clients must not be empty.");
        }

        return new RespUsers().With(new RespUser { Name = RespUser.DefaultName, Password = PasswordHash.Of(password) });
    }

    /// <summary>Reads a file.</summary>
    /// <exception cref="ServerException">The file cannot be read, has no user, or has a line that is not valid.</exception>
    public static RespUsers Load(string path)
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
    /// <exception cref="ServerException">The text has no user, or a line that is not valid.</exception>
    public static RespUsers Parse(string text, string name)
    {
        var users = new RespUsers();
        int number = 0;
        foreach (string line in text.Split('\n'))
        {
            number++;
            string[] words = line.Split((char[])[' ', '\t', '\r'], StringSplitOptions.RemoveEmptyEntries);
            if (words.Length == 0 || words[0] == "#")
            {
                continue;
            }

            if (words.Length is not (3 or 4) || words[2] is not ("read-only" or "read-write"))
            {
                throw new ServerException($"Line {number} of '{name}' must be NAME PASSWORD read-only|read-write [PREFIX].");
            }

            var password = words[1] == "nopass" ? null : PasswordHash.TryParse(words[1]) ?? throw new ServerException(
                $"The password in line {number} of '{name}' must be sha256:HEX, pbkdf2:ITERATIONS:SALT:HASH, or nopass.");
            var user = new RespUser
            {
                Name = Text.Latin(Encoding.UTF8.GetBytes(words[0])),
                Password = password,
                IsReadOnly = words[2] == "read-only",
                KeyPrefix = words.Length == 4 ? Encoding.UTF8.GetBytes(words[3]) : [],
            };
            if (users._users.ContainsKey(user.Name))
            {
                throw new ServerException($"Line {number} of '{name}' is a second one for the user '{words[0]}'.");
            }

            users.With(user);
        }

        return users._users.Count > 0 ? users : throw new ServerException($"'{name}' has no user.");
    }

    /// <summary>Returns whether there is a user with this name.</summary>
    public bool Has(string name) => _users.ContainsKey(name);

    /// <summary>Finds the user with this name, and the hash that its password must match. For an unknown name it returns a hash that
    /// nothing matches, so that a wrong name takes as long as a wrong password.</summary>
    /// <returns>The hash; null if no password is required, or if no user has one.</returns>
    public PasswordHash? Find(ReadOnlySpan<byte> name, out RespUser? user)
    {
        user = _users.GetValueOrDefault(Text.Latin(name));
        return user is null ? _nobody : user.Password;
    }

    /// <summary>Returns the user with this name if the password is right; otherwise null. May compute a slow hash, so it must not run on
    /// a worker.</summary>
    public RespUser? Authenticate(ReadOnlySpan<byte> name, ReadOnlySpan<byte> password)
    {
        PasswordHash? hash = Find(name, out RespUser? user);
        return hash is null || (hash.TryMatch(password) ?? hash.Matches(PasswordDigest.Of(password))) ? user : null;
    }

    private RespUsers With(RespUser user)
    {
        _users.Add(user.Name, user);
        if (user.Password is not null)
        {
            int longest = _users.Values.Max(each => each.Password?.Iterations ?? 0);
            _nobody = _nobody?.Iterations == longest ? _nobody : PasswordHash.OfNobody(longest);
        }

        return this;
    }
}
