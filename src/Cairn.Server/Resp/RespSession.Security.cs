using Cairn.Server.Resp.Security;

namespace Cairn.Server.Resp;

// The client's identity. Before authentication, only commands with the flag NoAuth are executed, and requests must be short.
internal sealed partial class RespSession
{
    // Whether permissions must be checked before a command is executed.
    private bool _isRestricted;

    // The password check that the present command waits for, and the action that resumes the command.
    private PasswordCheck? _check;
    private Action? _goOn;

    /// <summary>Gets the user; null before authentication.</summary>
    public RespUser? User { get; private set; }

    /// <summary>Sets the user; null for none.</summary>
    public void Become(RespUser? user)
    {
        User = user;
        _isRestricted = user is null || user.IsRestricted;
        _reader.IsAuthenticated = user is not null;
    }

    /// <summary>
    /// Sets the user with this name if the password is right; otherwise the user stays the same. If a slow hash is needed, the command
    /// pauses while a separate thread computes it (PasswordChecks).
    /// </summary>
    /// <returns>False if the command must return: it is paused, or the error has been written.</returns>
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
            Peer.ReportWrongPassword();
            writer.WriteError(RespErrors.WrongPassword);
            return false;
        }

        Become(user);
        return true;
    }

    // Returns false if the command must return. The users may have changed when it is called again.
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

    // Returns whether the user has the permission. If not, writes the error.
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

        if ((command.Flags & CommandFlags.NoAuth) == 0 && !user.MayUse(command.Flags, command.IsPublish))
        {
            RejectCommand(command, $"NOPERM this user has no permissions to run the '{command.Name}' command", ref writer);
            return false;
        }

        if (command.FirstKey > 0 && user.KeyPrefix.Length > 0)
        {
            int last = command.LastKeyOf(arguments);
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
