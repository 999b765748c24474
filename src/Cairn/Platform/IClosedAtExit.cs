namespace Cairn.Platform;

/// <summary>What <see cref="CloseAtExit"/> closes when the process ends.</summary>
internal interface IClosedAtExit : IDisposable
{
    /// <summary>Makes everything durable that was promised to become so, and stays open.</summary>
    void Flush();
}
