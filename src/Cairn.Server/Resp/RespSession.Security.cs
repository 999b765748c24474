using Cairn.Protocol;
using Cairn.Server.Resp.Security;

namespace Cairn.Server.Resp;

// Who the client is. Until it is known, only what makes it known is executed, and requests are kept short.
internal sealed partial class RespSession
{
    // Whether commands must be looked at before they are executed.
    private bool _isRestricted;

    /// <summary>Null while nobody was authenticated.</summary>
    public RespUser? User { get; private set; }

    /// <summary>Becomes a user, or, with null, nobody.</summary>
    public void Become(RespUser? user)
    {
        User = user;
        _isRestricted = user is null || user.IsRestricted;
        _reader.IsAuthenticated = user is not null;
    }

    /// <summary>Becomes the user of that name if the password is right; else stays who it is.</summary>
    public bool TryAuthenticate(ReadOnlySpan<byte> name, ReadOnlySpan<byte> password)
    {
        RespUser? user = Server.Users.Authenticate(name, password);
        if (user is not null)
        {
            Become(user);
        }

        return user is not null;
    }

    // Whether the user may do this. Else the error is written.
    private bool IsPermitted(CommandInfo command, scoped in RespArguments arguments, ref RespWriter writer)
    {
        if (User is not { } user)
        {
            bool isFree = (command.Flags & CommandFlags.NoAuth) != 0;
            if (!isFree)
            {
                RejectCommand(command, "NOAUTH Authentication required.", ref writer);
            }

            return isFree;
        }

        if ((command.Flags & CommandFlags.NoAuth) == 0 && !user.MayUse(command))
        {
            RejectCommand(command, $"NOPERM this user has no permissions to run the '{command.Name}' command", ref writer);
            return false;
        }

        if (command.FirstKey > 0 && user.KeyPrefix.Length > 0)
        {
            int last = command.LastKeyOf(arguments.Count);
            for (int i = command.FirstKey; i <= last; i += command.KeyStep)
            {
                if (!user.MayUse(arguments[i]))
                {
                    writer.WriteError(RespErrors.NoPermissionForKey);
                    return false;
                }
            }
        }

        return true;
    }
}
