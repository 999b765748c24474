using System.ComponentModel;

namespace Cairn.Cli;

// The runtime starts threads, and opens pipes and queues of events, when it first uses signals, sockets and the terminal. If the system refuses them, the
// initializer of a type fails, or the call does. A native binary does not name the type. This class finds the cause.
internal static class SystemLimits
{
    // Error numbers of Linux and macOS. The two systems differ in the first.
    private const int TryAgain = 11;
    private const int TryAgainOfMacOs = 35;
    private const int NoMemory = 12;
    private const int TooManyFilesOnMachine = 23;
    private const int TooManyFilesInProcess = 24;

    /// <summary>Returns the exception that names the limits to raise if the system refused the runtime something. Otherwise the failure's cause.</summary>
    public static Exception Translate(Exception failure, bool isServer)
    {
        Exception cause = failure is TypeInitializationException ? failure.GetBaseException() : failure;
        int error = OperatingSystem.IsWindows() ? 0 : ErrorOf(cause, isOfInitializer: cause != failure);
        return cause is OutOfMemoryException or ThreadStartException || error is TryAgain or TryAgainOfMacOs or NoMemory
            ? ToolException.Refused(isServer ? ExitCode.Server : ExitCode.Store)
            : error is TooManyFilesOnMachine or TooManyFilesInProcess ? ToolException.NoFile(isServer ? ExitCode.Server : ExitCode.File)
            : IsOfRandomNumbers(cause) ? ToolException.NoRandomNumbers(isServer ? ExitCode.Server : ExitCode.Store)
            : cause;
    }

    // Guid.NewGuid throws this exception without another text. Naming its type here would load the assembly of cryptography.
    private static bool IsOfRandomNumbers(Exception cause) =>
        cause.GetType().FullName == "System.Security.Cryptography.CryptographicException"
        && cause.Message == "Error occurred during a cryptographic operation.";

    private static int ErrorOf(Exception cause, bool isOfInitializer) => cause switch
    {
        Win32Exception exact when exact.GetType() == typeof(Win32Exception) => exact.NativeErrorCode,
        _ when !isOfInitializer => 0, // Other exceptions for files have a message of their own.
        IOException => cause.HResult,
        { Message: var text } when text.EndsWith(" EMFILE", StringComparison.Ordinal) => TooManyFilesInProcess, // The exception of the runtime's sockets has no number.
        { Message: var text } when text.EndsWith(" ENFILE", StringComparison.Ordinal) => TooManyFilesOnMachine,
        _ => 0,
    };
}
