// A listening Unix socket has a file, and the file remains when a server is killed. So a server that finds a file tests whether another
// server listens on it. The file of a dead server is replaced. The file of a running server is an error. Any other file is not touched.
//
// Two servers that start at the same moment may both find the file of a dead server. Then the second one to bind either fails, or has
// removed the file of the first one. Only another lock could prevent that. In the latter case, the first server has no file, and does not
// notice. So a server removes the file at its end only if the file is still its own.
//
// This class uses system calls instead of the sockets of .NET, because these delete the file at the path.
using System.Net.Sockets;
using System.Runtime.Versioning;
using Cairn.Platform;
using Cairn.Platform.Linux;
using Cairn.Server.Platform;

namespace Cairn.Server.Listening;

[UnsupportedOSPlatform("windows")]
internal sealed unsafe class UnixSocketFile
{
    // sizeof(struct sockaddr_un), and the maximum length of its path without the terminating zero.
    private const int AddressBytes = 110;
    private const int LongestPathBytes = 107;

    private const int SocketType = 0xC000;

    private readonly string _path;
    private readonly FileIdentity _identity;

    private UnixSocketFile(string path, Socket socket)
    {
        _path = path;
        Socket = socket;
        _identity = Find(path, out LinuxNative.FileStatus status) ? status.Identity : default;
    }

    public Socket Socket { get; }

    /// <summary>Creates the socket and its file, and listens.</summary>
    /// <exception cref="ServerException">The path cannot be used.</exception>
    public static UnixSocketFile Listen(ListenAddress address, int backlog)
    {
        string path = address.UnixPath!;
        byte[] pathBytes = Encoding.UTF8.GetBytes(path);
        if (pathBytes.Length > LongestPathBytes)
        {
            throw new ServerException(
                $"The path of the Unix socket '{path}' has {pathBytes.Length} bytes, and the system takes {LongestPathBytes} at most. Choose a shorter one.");
        }

        RemoveDead(path, pathBytes);
        int descriptor = OpenSocket();
        try
        {
            if (WithAddress(pathBytes, (bytes, length) => LinuxSockets.Bind(descriptor, bytes, length)) != 0)
            {
                throw CannotBind(path, LinuxSockets.LastError);
            }

            // Before it listens, so that no client connects without permission.
            File.SetUnixFileMode(path, address.UnixMode);
            if (LinuxSockets.Listen(descriptor, backlog) != 0)
            {
                throw new ServerException($"Listening on the Unix socket '{path}' failed: {LinuxErrors.Text(LinuxSockets.LastError)}.");
            }

            return new UnixSocketFile(path, new Socket(new SafeSocketHandle(descriptor, ownsHandle: true)));
        }
        catch
        {
            LinuxSockets.CloseDescriptor(descriptor);
            throw;
        }
    }

    /// <summary>Removes the file, if it is still this socket's.</summary>
    public void Remove()
    {
        try
        {
            if (Find(_path, out LinuxNative.FileStatus status) && status.Identity == _identity)
            {
                File.Delete(_path);
            }
        }
        catch (Exception failure) when (failure is IOException or UnauthorizedAccessException)
        {
            // The server must still close its store. The next server that listens at this path removes the file.
        }
    }

    private static void RemoveDead(string path, byte[] pathBytes)
    {
        if (!Find(path, out LinuxNative.FileStatus status))
        {
            return;
        }

        if ((status.Mode & LinuxNative.FileTypeMask) != SocketType)
        {
            throw new ServerException($"The path '{path}' is taken by something that is not a socket. Remove it, or choose another path.");
        }

        int descriptor = OpenSocket();
        int result = WithAddress(pathBytes, (bytes, length) => LinuxSockets.Connect(descriptor, bytes, length));
        int error = result == 0 ? 0 : LinuxSockets.LastError;
        LinuxSockets.CloseDescriptor(descriptor);
        switch (error)
        {
            case LinuxErrors.ConnectionRefused:
                File.Delete(path);
                break;
            case LinuxErrors.NoEntry:
                break; // Its server has just removed it.
            case LinuxErrors.AccessDenied:
                throw new ServerException($"The Unix socket '{path}' belongs to another user. Remove it, or choose another path.");
            default: // Connected, or its queue is full: another server uses it.
                throw new ServerException($"Another server listens on the Unix socket '{path}'. Stop it, or choose another path.");
        }
    }

    private static bool Find(string path, out LinuxNative.FileStatus status) =>
        LinuxNative.StatPath(path, LinuxNative.SymlinkNoFollow, out status) == 0;

    private static int OpenSocket()
    {
        int descriptor = LinuxSockets.Socket(
            LinuxSockets.UnixFamily, LinuxSockets.Stream | LinuxSockets.CloseOnExec | LinuxSockets.NonBlocking, 0);
        return descriptor >= 0
            ? descriptor
            : throw new ServerException($"A Unix socket could not be made: {LinuxErrors.Text(LinuxSockets.LastError)}.");
    }

    private static int WithAddress(byte[] path, AddressUser use)
    {
        byte* address = stackalloc byte[AddressBytes];
        new Span<byte>(address, AddressBytes).Clear();
        *(ushort*)address = LinuxSockets.UnixFamily;
        path.CopyTo(new Span<byte>(address + 2, LongestPathBytes));
        return use(address, (uint)(2 + path.Length + 1));
    }

    private static ServerException CannotBind(string path, int error) => new(error switch
    {
        LinuxErrors.AddressInUse => $"Another server took the Unix socket '{path}' just now.",
        LinuxErrors.NoEntry => $"The Unix socket '{path}' cannot be made because its directory does not exist. Make it first, or name another path.",
        LinuxErrors.AccessDenied => $"This user may not create the Unix socket '{path}'. Choose another directory, or give permission on this one.",
        _ => $"The Unix socket '{path}' could not be made: {LinuxErrors.Text(error)}.",
    });

    private delegate int AddressUser(byte* address, uint length);
}
