namespace Cairn.Server.Resp.Security;

/// <summary>Who a client is, and what it may do.</summary>
internal sealed class RespUser
{
    /// <summary>Whom a client is that does not say.</summary>
    public const string DefaultName = "default";

    /// <summary>Who may do everything without a password.</summary>
    public static RespUser Everybody { get; } = new() { Name = DefaultName };

    /// <summary>Bytes as characters, as <see cref="Text.Latin"/> makes them.</summary>
    public required string Name { get; init; }

    /// <summary>Null if none is asked for.</summary>
    public PasswordHash? Password { get; init; }

    /// <summary>Whether it may change nothing.</summary>
    public bool IsReadOnly { get; init; }

    /// <summary>What all keys that it may use begin with.</summary>
    public byte[] KeyPrefix { get; init; } = [];

    /// <summary>Whether there is anything that it may not do.</summary>
    public bool IsRestricted => IsReadOnly || KeyPrefix.Length > 0;

    /// <summary>Whether it may use this key.</summary>
    public bool MayUse(ReadOnlySpan<byte> key) => key.StartsWith(KeyPrefix);

    /// <summary>Whether it may use this command, keys aside. What concerns the server or every key is for those who may change every key.</summary>
    public bool MayUse(CommandInfo command)
    {
        CommandFlags flags = command.Flags;
        bool isChange = (flags & CommandFlags.Write) != 0;
        return !(IsReadOnly && (isChange || command.IsPublish))
            && !(IsRestricted && (flags & CommandFlags.Admin) != 0)
            && !(KeyPrefix.Length > 0 && isChange && (flags & CommandFlags.AllKeys) != 0);
    }
}
