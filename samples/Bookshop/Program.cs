using System.Net.Sockets;
using Bookshop;
using Microsoft.AspNetCore.Connections;

// A common mistake (no database, a port in use, a wrong setting) prints one line that says how to correct it. Any other exception is a bug, and
// prints its stack.
try
{
    await using var application = BookshopApplication.Create(args);
    await application.RunAsync();
    return 0;
}
catch (BookshopSetupException mistake)
{
    await Console.Error.WriteLineAsync($"bookshop: {mistake.Message}");
}
catch (IOException failure) when (failure.InnerException is AddressInUseException)
{
    await Console.Error.WriteLineAsync($"bookshop: {failure.Message} Stop what listens there, or choose another with --urls.");
}
catch (SocketException failure) when (failure.SocketErrorCode is SocketError.AccessDenied)
{
    await Console.Error.WriteLineAsync("bookshop: this user may not listen on that port. Choose one from 1024 with --urls.");
}
catch (OperationCanceledException)
{
    await Console.Error.WriteLineAsync("bookshop: stopped before it was ready.");
}

return 1;
