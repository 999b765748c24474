using System.Net;

namespace Cairn.Server.Io;

/// <summary>A connection's socket, as a loop uses it. Only the connection's worker calls it, except the addresses and
/// the descriptor.</summary>
internal abstract class IoChannel
{
    /// <summary>Gets the client's address; null if there is none or it is no longer available. Thread-safe.</summary>
    public abstract IPEndPoint? Remote { get; }

    /// <summary>Gets the address that the client connected to; null if there is none. Thread-safe.</summary>
    public abstract IPEndPoint? Local { get; }

    /// <summary>Gets the socket's descriptor, which is unique among the open files of the process. Thread-safe.</summary>
    public abstract int Descriptor { get; }

    /// <summary>Gets whether output waits because the client does not read it.</summary>
    public bool IsBlocked { get; protected set; }

    /// <summary>Gets the number of bytes that the kernel has taken and that the client's system has not received; 0 if the kernel does
    /// not report it.</summary>
    public virtual int UndeliveredBytes => 0;

    /// <summary>Starts to receive.</summary>
    public abstract void Start();

    /// <summary>Starts to send the connection's wire output, unless a send is already in progress, and continues until the output is
    /// empty. Bytes that were sent are removed from the output. If that happens after the call has returned, the loop reports it to the
    /// worker.</summary>
    public abstract void Send();

    /// <summary>Stops receiving. Input that is on its way may still arrive.</summary>
    public abstract void PauseReceive();

    public abstract void ResumeReceive();

    /// <summary>Makes the next turn receive input that the kernel has but that was not reported to the loop. Loops that query the kernel
    /// themselves know about all input, and do nothing here.</summary>
    /// <returns>Whether there is such input.</returns>
    public virtual bool CollectUnread() => false;

    /// <summary>Ends the sending side of the connection.</summary>
    public abstract void ShutdownSend();

    /// <summary>Closes the connection. No input arrives afterwards.</summary>
    /// <param name="isHard">Whether the kernel discards output that it has not delivered.</param>
    /// <returns>Whether the kernel has released the output's memory. If not, the loop reports to the worker when it has.</returns>
    public abstract bool Close(bool isHard);
}
