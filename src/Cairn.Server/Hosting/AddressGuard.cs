using System.Net;
using System.Net.Sockets;
using Cairn.Server.Listening;

namespace Cairn.Server.Hosting;

/// <summary>
/// Prevents unprotected access by mistake. An address that other machines can reach needs authentication and TLS, unless the options
/// explicitly allow insecure access. Without TLS, passwords can be read on the network.
/// </summary>
internal static class AddressGuard
{
    /// <summary>Checks that the server may listen on the address.</summary>
    /// <exception cref="ServerException">Other machines could reach the address without authentication or without TLS, or its name is not
    /// known.</exception>
    public static void Check(string protocol, ListenAddress address, bool isAuthenticated, bool isEncrypted, bool allowsInsecure)
    {
        if ((isAuthenticated && isEncrypted) || allowsInsecure || !IsPublic(address))
        {
            return;
        }

        throw new ServerException(
            isAuthenticated
                ? $"Listening for {protocol} on {address} would send passwords, keys and values unprotected over the network. " +
                  "Listen on 127.0.0.1, give a certificate with --tls-certificate, or use --insecure in a network without untrusted machines."
                : $"Listening for {protocol} on {address} would let every program that reaches this machine read and change the cache. " +
                  "Listen on 127.0.0.1, name users and a certificate (--tls-certificate), or use --insecure in a network without untrusted machines.");
    }

    /// <summary>Checks an address for HTTP. Without TLS, passwords and values could be read on the network.</summary>
    /// <exception cref="ServerException">Other machines could reach the address, or its name is not known.</exception>
    public static void CheckHttp(ListenAddress address, bool allowsInsecure)
    {
        if (!allowsInsecure && IsPublic(address))
        {
            throw new ServerException(
                $"Listening for HTTP on {address} would send figures, keys, values and passwords unprotected over the network. " +
                "Listen on 127.0.0.1, or use --insecure in a network without untrusted machines.");
        }
    }

    private static bool IsPublic(ListenAddress address)
    {
        if (address.UnixPath is not null)
        {
            return false; // The file's permissions decide.
        }

        try
        {
            return address.Resolve().Any(ip => !IPAddress.IsLoopback(ip));
        }
        catch (SocketException e)
        {
            throw new ServerException($"The name '{address.Host}' is not known: {e.Message}. An address is HOST:PORT, [IPV6]:PORT, *:PORT, PORT or unix:PATH.", e);
        }
    }
}
