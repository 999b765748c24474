using Cairn.Protocol;
using Cairn.Server.Resp.Security;

namespace Cairn.Server.Resp;

// Who the client is. Until it is known, only what makes it known is executed, and requests are kept short.
internal sealed partial class RespSession
{
    // Whether commands must be looked at before they are executed.
    private bool _isRestricted;

    // The password that the command at hand waits for, and what has it go on.
    private PasswordCheck? _check;
    private Action? _goOn;

    /// <summary>Null while nobody was authenticated.</summary>
    public RespUser? User { get; private set; }

    /// <summary>Becomes a user, or, with null, nobody.</summary>
    public void Become(RespUser? user)
    {
        User = user;
        _isRestricted = user is null || user.IsRestricted;
        _reader.IsAuthenticated = user is not null;
    }

    /// <summary>
    /// Becomes the user of that name if the password is right; else stays who it is. Where a slow hash must tell, the command pauses until it has:
    /// a thread of its own computes it (PasswordChecks).
    /// </summary>
    /// <returns>False if the command must return: it pauses, or the error is written.</returns>
    public bool TryAuthenticate(ReadOnlySpan<byte> name, ReadOnlySpan<byte> password, ref RespWriter writer)
    {
        PasswordHash? hash = Server.Users.Find(name, out RespUser? user);
        bool? isRight = hash is null ? true : hash.TryMatch(password);
        if (isRight is null && !TryCheck(hash!, password, out isRight, ref writer))
        {
            return false;
        }

        EndCheck();
        if (isRight is not true || user is null)
        {
            writer.WriteError(RespErrors.WrongPassword);
            return false;
        }

        Become(user);
        return true;
    }

    // False if the command must return. The users may be others when it is called again.
    private bool TryCheck(PasswordHash hash, ReadOnlySpan<byte> password, out bool? isRight, ref RespWriter writer)
    {
        isRight = null;
        if (_isExecutingQueue)
        {
            writer.WriteError(RespErrors.PasswordInTransaction);
            return false;
        }

        if (_check?.Hash != hash)
        {
            EndCheck();
            _goOn ??= Peer.Resume;
            _check = Server.Passwords.TryBegin(hash, password, Peer.Address, _goOn);
            if (_check is null)
            {
                writer.WriteError(RespErrors.TooManyPasswords);
                return false;
            }
        }

        isRight = _check.IsRight;
        if (isRight is null)
        {
            ResumeAt = 1;
            _pausedCommand = _commandAtHand;
            Peer.BeginWait();
        }

        return isRight is not null;
    }

    private void EndCheck()
    {
        if (_check is { } check)
        {
            _check = null;
            Server.Passwords.Leave(check, _goOn!);
        }
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
