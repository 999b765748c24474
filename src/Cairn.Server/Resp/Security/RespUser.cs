namespace Cairn.Server.Resp.Security;

/// <summary>A user and its permissions.</summary>
internal sealed class RespUser
{
    /// <summary>The name of a client that does not give one.</summary>
    public const string DefaultName = "default";

    /// <summary>Gets the user that may execute every command without a password.</summary>
    public static RespUser Everybody { get; } = new() { Name = DefaultName };

    /// <summary>Gets the name, with bytes as characters, as <see cref="Text.Latin"/> creates them.</summary>
    public required string Name { get; init; }

    /// <summary>Gets the hash of the password; null if none is required.</summary>
    public PasswordHash? Password { get; init; }

    /// <summary>Gets whether the user may change nothing.</summary>
    public bool IsReadOnly { get; init; }

    /// <summary>Gets the prefix of all keys that the user may access.</summary>
    public byte[] KeyPrefix { get; init; } = [];

    /// <summary>Gets whether any permission is missing.</summary>
    public bool IsRestricted => IsReadOnly || KeyPrefix.Length > 0;

    /// <summary>Returns whether the user may access this key.</summary>
    public bool MayUse(ReadOnlySpan<byte> key) => key.StartsWith(KeyPrefix);

    /// <summary>Returns whether the user may execute this command, apart from its keys. Commands that affect the server or every key are
    /// only for users that may change every key.</summary>
    public bool MayUse(CommandFlags flags, bool isPublish)
    {
        bool isChange = (flags & CommandFlags.Write) != 0;
        return !(IsReadOnly && (isChange || isPublish))
            && !(IsRestricted && (flags & CommandFlags.Admin) != 0)
            && !(KeyPrefix.Length > 0 && isChange && (flags & CommandFlags.AllKeys) != 0);
    }
}
