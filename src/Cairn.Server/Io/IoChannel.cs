using System.Net;

namespace Cairn.Server.Io;

/// <summary>What a loop knows about a connection. Called by the connection's worker only, but for <see cref="Remote"/>.</summary>
internal abstract class IoChannel
{
    /// <summary>The client's address; null if there is none or it is not to be had any more. Any thread.</summary>
    public abstract IPEndPoint? Remote { get; }

    /// <summary>Whether output waits because the client does not take it.</summary>
    public bool IsBlocked { get; protected set; }

    /// <summary>Bytes that the kernel has taken and the client's system has not received. 0 where the kernel does not say.</summary>
    public virtual int UndeliveredBytes => 0;

    /// <summary>Starts to receive.</summary>
    public abstract void Start();

    /// <summary>Starts to send what the connection's wire output holds, unless a send is under way, and goes on until it is empty. What
    /// was sent leaves the output; the worker is told when this happens later than now.</summary>
    public abstract void Send();

    /// <summary>Receives nothing more. What is on its way may still arrive.</summary>
    public abstract void PauseReceive();

    public abstract void ResumeReceive();

    /// <summary>Has input received in the next turn that the kernel has, and that the loop was not told of. Loops that ask the kernel
    /// themselves were told of all input.</summary>
    /// <returns>Whether there is some.</returns>
    public virtual bool CollectUnread() => false;

    /// <summary>Tells the client that nothing more comes.</summary>
    public abstract void ShutdownSend();

    /// <summary>Ends it. Nothing arrives any more.</summary>
    /// <param name="isHard">Whether the kernel drops what it has not delivered.</param>
    /// <returns>Whether the kernel has let go of the output's memory; if not, the worker is told when it has.</returns>
    public abstract bool Close(bool isHard);
}
